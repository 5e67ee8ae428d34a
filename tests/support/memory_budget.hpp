// Makes memory run out at a chosen allocation, in this thread and for the code that is tested alone. Works in programs
// that link memory_budget.cpp, which is not built with sanitizers: they have an operator new of their own.
#pragma once

#include <cstddef>
#include <limits>

namespace bloomgate::test {

struct MemoryBudget {
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  std::size_t made = 0;          // allocations while in force
  std::size_t fails = kNoLimit;  // the number of the first that fails, from 0
  bool for_good = false;         // all after it fail as well
  bool in_force = false;

  void start(std::size_t first_failing, bool all_after_it) noexcept {
    made = 0;
    fails = first_failing;
    for_good = all_after_it;
  }
  void stop() noexcept { fails = kNoLimit; }
};

inline thread_local MemoryBudget memory_budget;

// Puts the budget into force, or takes it out of force, for as long as it lives.
class BudgetInForce {
 public:
  explicit BudgetInForce(bool in_force = true) noexcept : before_(memory_budget.in_force) {
    memory_budget.in_force = in_force;
  }
  ~BudgetInForce() { memory_budget.in_force = before_; }
  BudgetInForce(const BudgetInForce&) = delete;
  BudgetInForce& operator=(const BudgetInForce&) = delete;

 private:
  bool before_;
};

}  // namespace bloomgate::test
