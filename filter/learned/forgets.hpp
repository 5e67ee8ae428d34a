// The people whom the last forgets have named. A message that was under way when a person was forgotten may end
// afterwards, and must not teach the same again. So each message notes when it began, and what it teaches is compared
// with the forgets that came later.
//
// Persons are kept as hashes, so that the text of the address is no longer stored. A user who can read the file can
// check whether a guessed person is among them; the hashes stay for two days. A value; safe from any thread.
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

// The time since the machine has started. It never decreases, and is the same for all programs of the machine.
std::chrono::nanoseconds boot_time() noexcept;

// The time at which a message began, in two measures.
struct LearnedBegin {
  // The count of forgets that its daemon knew; the daemon learns of a forget up to a second later.
  std::int64_t forgets = 0;
  // The boot time: forgets that the daemon did not know yet, but that are earlier than this, came before the message.
  std::chrono::nanoseconds time{};
};

class Forgets {
 public:
  struct Person {
    std::uint64_t hash = 0;
    // Another host has named the person: the hash is made of a hash_of(), with a key that the hosts share.
    bool is_heard = false;
    std::chrono::nanoseconds time{};  // of the forget
  };

  // How many persons are kept: the last ones.
  static constexpr std::size_t kMost = 10'000;

  // Turns a hash_of() into the hash that other hosts make of it.
  using Rehash = std::function<std::uint64_t(std::uint64_t)>;

  // Without any forget.
  Forgets() noexcept = default;
  // There were `count` forgets, and `last` are the last of them, in their order. Without `rehash`, a person whom
  // another host has named counts as every person.
  Forgets(std::int64_t count, std::vector<Person> last, Rehash rehash = {}) noexcept;

  // `person` is an address, `@domain` or `@.domain`.
  static std::uint64_t hash_of(const Entry& person) noexcept;
  // The same for its key, as is_of_people() passes it.
  static std::uint64_t hash_of_key(std::string_view key) noexcept;

  std::int64_t count() const noexcept { return count_; }
  // The last ones in their order; the last of all has the number count().
  std::span<const Person> last() const noexcept { return last_; }

  // Whether one of the two canonical addresses was forgotten (see is_of_person()) since a message began. Also true if
  // that is no longer known. Throws std::bad_alloc.
  bool name_either(std::string_view user, std::string_view correspondent, const LearnedBegin& began) const;

 private:
  std::int64_t count_ = 0;
  std::vector<Person> last_;
  Rehash rehash_;
};

}  // namespace bloomgate
