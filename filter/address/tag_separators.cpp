#include "filter/address/tag_separators.hpp"

#include <algorithm>

#include "filter/address/characters.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kOwner = "owner-";
constexpr std::string_view kRequest = "-request";

bool belongs_to_a_mailing_list(std::string_view content) noexcept {
  return ascii::equal_ignoring_case(content.substr(0, kOwner.size()), kOwner) ||
         (content.size() > kRequest.size() &&
          ascii::equal_ignoring_case(content.substr(content.size() - kRequest.size()), kRequest));
}

}  // namespace

std::optional<TagSeparators> TagSeparators::parse(std::string_view characters) noexcept {
  TagSeparators separators;
  for (const char character : characters) {
    const std::uint32_t bit = kBits[static_cast<unsigned char>(character)];
    if (bit == 0) return std::nullopt;
    separators.bits_ |= bit;
  }
  return separators;
}

std::string TagSeparators::text() const {
  std::string text;
  std::ranges::copy_if(kCharacters, std::back_inserter(text), [this](char each) { return contains(each); });
  return text;
}

std::size_t TagSeparators::find_tag(std::string_view content) const noexcept {
  for (std::size_t at = 1; at < content.size(); ++at) {
    if (!contains(content[at])) continue;
    const bool whole = ascii::equal_ignoring_case(content, "mailer-daemon") ||
                       ascii::equal_ignoring_case(content, "double-bounce") ||
                       (contains('-') && belongs_to_a_mailing_list(content));
    return whole ? content.size() : at;
  }
  return content.size();
}

}  // namespace bloomgate
