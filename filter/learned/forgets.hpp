// Whom the last forgets have named. A message that was under way when somebody was forgotten may end afterwards, and
// must not teach the same again: so each message notes when it began, and what it teaches is compared with the forgets
// that came later.
//
// Persons are kept as hashes, so that the text of an address is nowhere any more. Whoever has the file can find out
// whether a person whom he guesses is among them; they stay for two days. A value; safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"

namespace bloomgate {

// Since the machine has started. It never goes back, and is the same for all its programs.
std::chrono::nanoseconds boot_time() noexcept;

// When a message began.
struct LearnedBegin {
  // How often something had been forgotten, as far as its daemon knew: it hears of it a second later.
  std::int64_t forgets = 0;
  // Of those that the daemon did not know, the ones before that came before the message.
  std::chrono::nanoseconds time{};
};

class Forgets {
 public:
  struct Person {
    std::uint64_t hash = 0;
    // Another host has named it: the hash is one of hash_of(), made by a key that the hosts have in common.
    bool is_heard = false;
    std::chrono::nanoseconds time{};  // of the forget
  };

  // So many persons are kept, the last ones.
  static constexpr std::size_t kMost = 10'000;

  // Makes of a hash_of() what other hosts make of it.
  using Rehash = std::function<std::uint64_t(std::uint64_t)>;

  // Nobody was forgotten, ever.
  Forgets() noexcept = default;
  // `count` times, and the last of them were these, in their order. Without `rehash` a person that was heard of may be
  // anybody.
  Forgets(std::int64_t count, std::vector<Person> last, Rehash rehash = {}) noexcept;

  // An address, `@domain` or `@.domain`.
  static std::uint64_t hash_of(const Entry& person) noexcept;
  // The same of its key, which is_of_people() asks for.
  static std::uint64_t hash_of_key(std::string_view key) noexcept;

  std::int64_t count() const noexcept { return count_; }
  // The last ones in their order; the last of all has the number count().
  std::span<const Person> last() const noexcept { return last_; }

  // Whether one of the two addresses, canonical ones, was forgotten (see is_of_person()) since a message began. Also
  // true where that is not known any more. Throws std::bad_alloc.
  bool name_either(std::string_view user, std::string_view correspondent, const LearnedBegin& began) const;

 private:
  std::int64_t count_ = 0;
  std::vector<Person> last_;
  Rehash rehash_;
};

}  // namespace bloomgate
