#include "filter/learned/forgets.hpp"

#include <algorithm>
#include <ctime>

#include "filter/hash/hash.hpp"
#include "filter/learned/is_of_people.hpp"

namespace bloomgate {
std::chrono::nanoseconds boot_time() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

Forgets::Forgets(std::int64_t count, std::vector<Person> last, Rehash rehash) noexcept
    : count_(count), last_(std::move(last)), rehash_(std::move(rehash)) {}

std::uint64_t Forgets::hash_of(const Entry& person) noexcept {
  return hash_of_key(person.key());
}

std::uint64_t Forgets::hash_of_key(std::string_view key) noexcept {
  return hash_key(key, 0);
}

bool Forgets::name_either(std::string_view user, std::string_view correspondent, const LearnedBegin& began) const {
  const std::int64_t before = began.forgets;
  if (before == count_) return false;
  const auto kept = static_cast<std::int64_t>(last_.size());
  // Either some forgets in between are no longer kept, or the count belongs to another file.
  if (before < count_ - kept || before > count_) return true;
  const std::span<const Person> later = std::span(last_).last(static_cast<std::size_t>(count_ - before));
  const bool has_heard = std::ranges::any_of(later, &Person::is_heard);
  const auto is_forgotten = [&](std::string_view text) noexcept {
    const std::uint64_t own = hash_of_key(text);
    const std::uint64_t heard = has_heard && rehash_ ? rehash_(own) : 0;
    return std::ranges::any_of(later, [&](const Person& person) {
      if (person.time <= began.time) return false;
      return person.is_heard ? !rehash_ || person.hash == heard : person.hash == own;
    });
  };
  return is_of_people(user, is_forgotten) || is_of_people(correspondent, is_forgotten);
}

}  // namespace bloomgate
