#include "milter/dkim/dmarc_record.hpp"

#include "filter/base/ascii.hpp"
#include "milter/fields/tag_list.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kVersion = "DMARC1";
constexpr std::string_view kAnyVersion = "DMARC";

bool is_of_dmarc(const TagList& tags) noexcept {
  if (tags.tags().empty()) return false;
  const Tag& first = tags.tags().front();
  return ascii::equal_ignoring_case(first.name, "v") &&
         ascii::equal_ignoring_case(first.value.substr(0, kAnyVersion.size()), kAnyVersion);
}

}  // namespace

Adkim read_adkim(std::string_view record) {
  const TagList tags(record);
  if (!is_of_dmarc(tags)) return Adkim::no_record;
  if (!tags.is_valid() || tags.tags().front().value != kVersion) return Adkim::strict;
  return ascii::equal_ignoring_case(tags.find("adkim").value_or("r"), "r") ? Adkim::relaxed : Adkim::strict;
}

}  // namespace bloomgate
