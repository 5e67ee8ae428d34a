#include "milter/fields/tag_list.hpp"

#include <algorithm>
#include <iterator>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kUsualTags = 16;  // more than most signatures have

bool is_tag_name(std::string_view text) noexcept {
  return !text.empty() && ascii::is_letter(text.front()) &&
         std::ranges::all_of(text, [](char byte) { return ascii::is_letter_or_digit(byte) || byte == '_'; });
}

bool is_tag_value(std::string_view text) noexcept {
  return !ascii::has_control(text, [](char byte) { return !is_folding_space(byte); });
}

}  // namespace

TagList::TagList(std::string_view text) {
  tags_.reserve(kUsualTags);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (text.empty() && without_folding_space(part).empty()) break;  // after the last `;`
    if (tags_.size() == kMaxTags) {
      is_valid_ = false;
      break;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      is_valid_ = false;
      continue;
    }
    const Tag tag = {without_folding_space(part.substr(0, equals)), without_folding_space(part.substr(equals + 1))};
    const bool is_twice =
        std::ranges::any_of(tags_, [&](const Tag& other) { return ascii::equal_ignoring_case(other.name, tag.name); });
    is_valid_ = is_valid_ && !is_twice && is_tag_name(tag.name) && is_tag_value(tag.value);
    tags_.push_back(tag);
  }
}

std::optional<std::string_view> TagList::find(std::string_view name) const noexcept {
  const auto is_it = [name](const Tag& tag) { return ascii::equal_ignoring_case(tag.name, name); };
  const auto found = std::ranges::find_if(tags_, is_it);
  if (found == tags_.end() || std::any_of(found + 1, tags_.end(), is_it)) return std::nullopt;
  return found->value;
}

std::string without_any_space(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [](char byte) { return !is_folding_space(byte); });
  return out;
}

}  // namespace bloomgate
