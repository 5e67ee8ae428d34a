#include "milter/fields/watched_fields.hpp"

#include <array>
#include <cstdint>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kNames[] = {"From",
                                       "Sender",
                                       "Reply-To",
                                       "Subject",
                                       "MIME-Version",
                                       "Content-Type",
                                       "Content-Transfer-Encoding",
                                       "Content-Disposition",
                                       "To",
                                       "Cc",
                                       "Date",
                                       "Message-ID",
                                       "References",
                                       "In-Reply-To",
                                       "List-Unsubscribe",
                                       "List-Id"};
static_assert(std::size(kNames) == kWatchedFields);

// For each length, the indices in kNames of the names with that length, the first one first: every field of a message
// is looked up here.
constexpr std::size_t kMostBytes = 25;
constexpr std::size_t kMostOfALength = 2;
constexpr std::uint8_t kNone = 0xff;
using Places = std::array<std::uint8_t, kMostOfALength>;
constexpr std::array<Places, kMostBytes + 1> kPlaces = [] {
  std::array<Places, kMostBytes + 1> places{};
  for (Places& each : places) each.fill(kNone);
  for (std::uint8_t at = 0; at < kWatchedFields; ++at) {
    Places& of_length = places.at(kNames[at].size());
    std::size_t place = 0;
    while (of_length.at(place) != kNone) ++place;
    of_length.at(place) = at;
  }
  return places;
}();

// The name without white space, control characters and bytes beyond ASCII at its ends, which a field's name cannot
// contain (RFC 5322 section 2.2).
std::string_view as_some_reader_takes_it(std::string_view name) noexcept {
  const auto is_no_part_of_name = [](char byte) { return byte <= ' ' || byte >= '\x7f'; };
  return ascii::trimmed_if(name, is_no_part_of_name);
}

bool is_kept(WatchedField field) noexcept {
  return field == WatchedField::mime_version || field == WatchedField::content_type ||
         field == WatchedField::content_transfer_encoding || field == WatchedField::content_disposition ||
         field == WatchedField::date || field == WatchedField::list_id;
}

}  // namespace

std::string_view field_name(WatchedField field) noexcept {
  return kNames[static_cast<std::size_t>(field)];
}

std::optional<WatchedField> watched_field(std::string_view name) noexcept {
  if (name.size() > kMostBytes) return std::nullopt;
  for (const std::uint8_t place : kPlaces[name.size()]) {
    if (place == kNone) break;
    if (ascii::equal_ignoring_case(kNames[place], name)) return static_cast<WatchedField>(place);
  }
  return std::nullopt;
}

WatchedFieldSet WatchedFieldSet::of_bits(std::uint32_t bits) noexcept {
  WatchedFieldSet set;
  set.bits_ = bits & ((std::uint32_t{1} << kWatchedFields) - 1);
  return set;
}

void SeenFields::add(std::string_view name, std::string_view value) {
  const std::string_view taken = as_some_reader_takes_it(name);
  const std::optional<WatchedField> field = watched_field(taken);
  if (!field) return;
  if (counts_[index(*field)]++ == 0 && is_kept(*field)) values_[index(*field)] = value;
  has_odd_name_[index(*field)] = has_odd_name_[index(*field)] || taken.size() != name.size();
}

void SeenFields::clear() noexcept {
  for (std::size_t field = 0; field < kWatchedFields; ++field) {
    if (counts_[field] != 0) values_[field].clear();
  }
  counts_ = {};
  has_odd_name_ = {};
}

}  // namespace bloomgate
