#include "milter/message/forged_fields.hpp"

#include <algorithm>

#include "milter/fields/field_name.hpp"
#include "milter/policy/decide.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kResultPrefix = "X-Spam";

}  // namespace

bool ForgedFields::is_result(std::string_view name) noexcept {
  return is_header(name.substr(0, kResultPrefix.size()), kResultPrefix);
}

void ForgedFields::add_result(std::string_view name) {
  // Further results are not removed, so their names do not matter.
  if (++results_ > kMaxRemovals) return;
  name = name.substr(0, name.find_last_not_of(" \t") + 1);
  if (name.size() > kMaxNameBytes) {
    has_long_name_ = true;
    return;
  }
  const auto known = std::ranges::find_if(names_, [name](const Name& each) { return is_header(name, each.name); });
  if (known != names_.end()) {
    ++known->count;
    return;
  }
  const bool had_lost_name = has_lost_name_;
  has_lost_name_ = true;  // stays so if the line below throws
  names_.push_back({std::string(name), 1});
  has_lost_name_ = had_lost_name;
}

ForgedFields::Removal ForgedFields::removal(bool with_results) const noexcept {
  const std::size_t removals = count(with_results);
  // The first condition keeps the product in the second one small.
  if (removals > kMaxRemovals || removals * fields_ > kMaxSearchSteps) return Removal::too_many;
  if (with_results && has_long_name_) return Removal::too_many;
  return with_results && has_lost_name_ ? Removal::unknown : Removal::possible;
}

void ForgedFields::clear() noexcept {
  fields_ = 0;
  marks_ = 0;
  results_ = 0;
  std::vector<Name>().swap(names_);
  has_long_name_ = false;
  has_lost_name_ = false;
}

}  // namespace bloomgate
