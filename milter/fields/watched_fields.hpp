// The header fields that a mail program shows, and those that say how the body is read. An attacker with a copy of a
// validly signed message can put such a field on top of it. So a signature counts only if it leaves none of them open:
// signed_fields.hpp has the rule.
//
// Used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

// In the order of the outcomes `field-added-…` (signatures.hpp).
enum class WatchedField : std::uint8_t {
  from,
  sender,
  reply_to,
  subject,
  mime_version,
  content_type,
  content_transfer_encoding,
  content_disposition,
  to,
  cc,
  date,
  message_id,
  references,
  in_reply_to,
  list_unsubscribe,
  list_id,
};
inline constexpr std::size_t kWatchedFields = 16;

// "Reply-To".
std::string_view field_name(WatchedField field) noexcept;

// The field of that name, in any case; nothing if it is not watched.
std::optional<WatchedField> watched_field(std::string_view name) noexcept;

// A set of watched fields.
class WatchedFieldSet {
 public:
  void add(WatchedField field) noexcept { bits_ = static_cast<std::uint32_t>(bits_ | bit(field)); }
  bool contains(WatchedField field) const noexcept { return (bits_ & bit(field)) != 0; }
  std::uint32_t bits() const noexcept { return bits_; }
  // Ignores bits that stand for no field.
  static WatchedFieldSet of_bits(std::uint32_t bits) noexcept;

  friend bool operator==(const WatchedFieldSet&, const WatchedFieldSet&) = default;

 private:
  static std::uint32_t bit(WatchedField field) noexcept { return std::uint32_t{1} << static_cast<unsigned>(field); }
  std::uint32_t bits_ = 0;
};

// The watched fields of one header.
class SeenFields {
 public:
  // Adds a field. `name` is the text before its colon, including white space: some readers take `Subject<TAB>:` for a
  // Subject, and others, libopendkim among them, do not. Throws std::bad_alloc.
  void add(std::string_view name, std::string_view value);
  void clear() noexcept;

  // How many fields some reader may take for this one.
  std::size_t count(WatchedField field) const noexcept { return counts_[index(field)]; }
  // Whether one of them has white space between its name and the colon.
  bool has_odd_name(WatchedField field) const noexcept { return has_odd_name_[index(field)]; }
  // The value of the first such field. Kept only for the fields about the body, Date and List-Id; empty for others.
  const std::string& value(WatchedField field) const noexcept { return values_[index(field)]; }

 private:
  static std::size_t index(WatchedField field) noexcept { return static_cast<std::size_t>(field); }

  std::array<std::size_t, kWatchedFields> counts_ = {};
  std::array<bool, kWatchedFields> has_odd_name_ = {};
  std::array<std::string, kWatchedFields> values_ = {};
};

}  // namespace bloomgate
