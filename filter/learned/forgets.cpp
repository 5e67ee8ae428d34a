#include "filter/learned/forgets.hpp"

#include <algorithm>
#include <ctime>
#include <span>

#include "filter/address/domain_tree.hpp"
#include "filter/address/tag_separators.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

std::uint64_t hash_of_text(std::string_view person) noexcept {
  return hash_key(person, 0);
}

// Whether one of those is forgotten whom the address belongs to. `is_forgotten` takes a person's text.
template <typename IsForgotten>
bool belongs_to_any(std::string_view address, IsForgotten is_forgotten) noexcept {
  static const AddressProfile untagged = {.tag_separators = *TagSeparators::parse("+")};
  const std::size_t at = address.rfind('@');
  return is_forgotten(address) || is_forgotten(canonicalize_path(address, untagged).key()) ||
         is_forgotten(address.substr(at)) || !find_domain_tree(address.substr(at + 1), is_forgotten).empty();
}

}  // namespace

std::chrono::nanoseconds boot_time() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

Forgets::Forgets(std::int64_t count, std::vector<Person> last) noexcept : count_(count), last_(std::move(last)) {}

std::uint64_t Forgets::hash_of(const Entry& person) noexcept {
  return hash_of_text(person.key());
}

bool Forgets::name_either(std::string_view user, std::string_view correspondent, const LearnedBegin& began) const {
  const std::int64_t before = began.forgets;
  if (before == count_) return false;
  const auto kept = static_cast<std::int64_t>(last_.size());
  // Those in between are not all kept, or it is a number of another file.
  if (before < count_ - kept || before > count_) return true;
  const std::span<const Person> later = std::span(last_).last(static_cast<std::size_t>(count_ - before));
  const auto is_forgotten = [&](std::string_view text) noexcept {
    const std::uint64_t hash = hash_of_text(text);
    return std::ranges::any_of(later,
                               [&](const Person& person) { return person.time > began.time && person.hash == hash; });
  };
  return belongs_to_any(user, is_forgotten) || belongs_to_any(correspondent, is_forgotten);
}

}  // namespace bloomgate
