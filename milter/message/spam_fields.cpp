#include "milter/message/spam_fields.hpp"

#include <algorithm>

#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kPrefix = "X-Spam";

}  // namespace

bool SpamFields::is_one(std::string_view name) noexcept {
  return is_header(name.substr(0, kPrefix.size()), kPrefix);
}

void SpamFields::add(std::string_view name) {
  name = name.substr(0, name.find_last_not_of(" \t") + 1);
  const auto known = std::ranges::find_if(names_, [name](const Name& each) { return is_header(name, each.name); });
  if (known != names_.end()) {
    ++known->count;
    return;
  }
  const bool had_too_many = too_many_;
  too_many_ = true;  // until the lines below have not thrown
  if (names_.size() == kMaxNames || name.size() > kMaxNameBytes) return;
  names_.push_back({std::string(name), 1});
  too_many_ = had_too_many;
}

void SpamFields::clear() noexcept {
  names_.clear();
  too_many_ = false;
}

}  // namespace bloomgate
