#include "tests/support/memory_budget.hpp"

#include <cstdlib>
#include <new>

namespace {

bool may_allocate() noexcept {
  auto& budget = bloomgate::test::memory_budget;
  if (!budget.in_force) return true;
  const std::size_t number = budget.made++;
  return number < budget.fails || (number > budget.fails && !budget.for_good);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = may_allocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
