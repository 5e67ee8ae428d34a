#include "milter/fields/signed_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "filter/address/structured_text.hpp"
#include "milter/fields/mail_date.hpp"

namespace bloomgate {
namespace {

using Field = WatchedField;

enum class Rule : std::uint8_t {
  always,      // must be signed if it occurs
  body,        // the same, unless its value is harmless
  once,        // a message has at most one (RFC 5322 section 3.6): must be signed if there are more
  if_required  // must be signed only if an operator requires it
};

constexpr Rule rule_of(Field field) noexcept {
  switch (field) {
    case Field::from:
    case Field::sender:
    case Field::reply_to:
    case Field::subject:
      return Rule::always;
    case Field::mime_version:
    case Field::content_type:
    case Field::content_transfer_encoding:
    case Field::content_disposition:
      return Rule::body;
    case Field::to:
    case Field::cc:
    case Field::date:
    case Field::message_id:
    case Field::references:
    case Field::in_reply_to:
      return Rule::once;
    case Field::list_unsubscribe:
    case Field::list_id:
      break;
  }
  return Rule::if_required;
}

class Examination {
 public:
  Examination(const SeenFields& seen, const SignedNames& names, WatchedFieldSet required) noexcept
      : seen_(seen), names_(names), required_(required) {}

  bool is_added(Field field) const noexcept {
    const std::size_t count = seen_.count(field);
    if (count == 0) return false;
    const Rule rule = rule_of(field);
    const bool has_to_be_signed = rule == Rule::always || required_.contains(field);
    const bool is_too_often = rule != Rule::if_required && count > 1;
    if (seen_.has_odd_name(field) && (has_to_be_signed || rule == Rule::body || is_too_often)) return true;
    return names_.count(field) < count && (has_to_be_signed || is_too_often);
  }

  // The field occurs and is not signed, which alone does not disqualify the signature.
  bool is_open(Field field) const noexcept { return seen_.count(field) != 0 && names_.count(field) == 0; }

 private:
  const SeenFields& seen_;
  const SignedNames& names_;
  WatchedFieldSet required_;
};

}  // namespace

SignedNames::SignedNames(std::string_view list) noexcept {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const auto field = watched_field(without_folding_space(list.substr(0, end)));
    if (field && count(*field) < std::numeric_limits<std::uint16_t>::max()) ++counts_[static_cast<std::size_t>(*field)];
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

OpenFields open_fields(const SeenFields& seen, const SignedNames& names, WatchedFieldSet required) {
  const Examination examination(seen, names, required);
  for (std::size_t index = 0; index < kWatchedFields; ++index) {
    const auto field = static_cast<Field>(index);
    if (examination.is_added(field)) return {.added = field};
  }
  OpenFields open = {.needs_no_message = names.count(Field::content_type) == 0};
  // An added MIME-Version only makes mail programs interpret the other MIME fields, and these are checked below.
  if (examination.is_open(Field::mime_version) && !is_harmless_mime_version(seen.value(Field::mime_version))) {
    return {.added = Field::mime_version};
  }
  if (examination.is_open(Field::content_type)) {
    const auto structure = harmless_content_type(seen.value(Field::content_type));
    // Without MIME-Version some readers treat the body as text (RFC 2045 section 4).
    const bool is_read_alike = structure && (structure->kind == BodyKind::text || seen.count(Field::mime_version) == 1);
    if (!is_read_alike) return {.added = Field::content_type};
    open.structure = *structure;
    open.needs_enclosed_body = structure->kind != BodyKind::text;
  }
  if (examination.is_open(Field::content_transfer_encoding)) {
    const auto encoding = known_encoding(seen.value(Field::content_transfer_encoding));
    if (!encoding) return {.added = Field::content_transfer_encoding};
    open.encoding = *encoding;
    open.needs_encoded_body = *encoding != BodyEncoding::none;
  }
  if (examination.is_open(Field::content_disposition) &&
      !is_harmless_disposition(seen.value(Field::content_disposition))) {
    return {.added = Field::content_disposition};
  }
  return open;
}

std::optional<std::chrono::sys_seconds> time_signed(std::optional<std::string_view> t, const SeenFields& seen,
                                                    const SignedNames& names) {
  if (t) {
    std::int64_t seconds = 0;
    const char* const end = t->data() + t->size();
    const auto [stop, error] = std::from_chars(t->data(), end, seconds);
    if (error != std::errc() || stop != end || seconds < 0) return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::seconds(seconds));
  }
  if (seen.count(Field::date) != 1 || names.count(Field::date) == 0) return std::nullopt;
  return read_mail_date(seen.value(Field::date));
}

}  // namespace bloomgate
