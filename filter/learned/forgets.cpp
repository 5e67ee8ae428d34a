#include "filter/learned/forgets.hpp"

#include <algorithm>
#include <ctime>
#include <string>

#include "filter/address/tag_separators.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

std::uint64_t hash_of_text(std::string_view person) noexcept {
  return hash_key(person, 0);
}

// Of everybody whom the address belongs to.
void add_persons_of(std::string_view address, std::vector<std::uint64_t>& hashes) {
  static const AddressProfile untagged = {.tag_separators = *TagSeparators::parse("+")};
  hashes.push_back(hash_of_text(address));
  hashes.push_back(hash_of_text(canonicalize_path(address, untagged).key()));
  std::string_view domain = address.substr(address.rfind('@') + 1);
  hashes.push_back(hash_of_text("@" + std::string(domain)));
  for (;;) {
    hashes.push_back(hash_of_text("@." + std::string(domain)));
    const std::size_t dot = domain.find('.');
    if (dot == std::string_view::npos) return;
    domain.remove_prefix(dot + 1);
  }
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
  std::vector<std::uint64_t> persons;
  add_persons_of(user, persons);
  add_persons_of(correspondent, persons);
  return std::any_of(last_.end() - (count_ - before), last_.end(), [&](const Person& person) {
    return person.time > began.time && std::ranges::find(persons, person.hash) != persons.end();
  });
}

}  // namespace bloomgate
