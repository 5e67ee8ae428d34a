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

Adkim adkim_of(std::string_view value) noexcept {
  return ascii::equal_ignoring_case(value, "r") ? Adkim::relaxed : Adkim::strict;
}

Psd psd_of(std::string_view value) noexcept {
  if (ascii::equal_ignoring_case(value, "u")) return Psd::not_said;
  if (ascii::equal_ignoring_case(value, "n")) return Psd::no;
  return ascii::equal_ignoring_case(value, "y") ? Psd::yes : Psd::unreadable;
}

}  // namespace

std::optional<DmarcRecord> read_dmarc_record(std::string_view record) {
  const TagList tags(record);
  if (!is_of_dmarc(tags)) return std::nullopt;
  if (!tags.is_valid() || tags.tags().front().value != kVersion) return DmarcRecord{};
  return DmarcRecord{adkim_of(tags.find("adkim").value_or("r")), psd_of(tags.find("psd").value_or("u"))};
}

}  // namespace bloomgate
