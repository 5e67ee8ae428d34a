#include "milter/fields/rewritten_sender.hpp"

#include <algorithm>
#include <optional>

#include "filter/address/characters.hpp"
#include "filter/address/domain.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

struct Mailbox {
  std::string_view local_part;
  std::string_view domain;
};

// The result of undoing one layer.
struct Undone {
  Rewriting rewriting;
  Mailbox inner;
};

// Removes `prefix` from the front of `text`, in any case.
bool skip(std::string_view& text, std::string_view prefix) noexcept {
  if (!ascii::equal_ignoring_case(text.substr(0, prefix.size()), prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes and returns the text before the first '=', and removes the '='. Empty if there is none.
std::string_view take_field(std::string_view& text) noexcept {
  const std::size_t bytes = text.find('=');
  if (bytes == std::string_view::npos) return {};
  const std::string_view field = text.substr(0, bytes);
  text.remove_prefix(bytes + 1);
  return field;
}

// `local@domain`, with or without angle brackets, but without source route, parameters and quotes.
std::optional<Mailbox> split(std::string_view path) noexcept {
  if (path.size() > kMaxInputBytes) return std::nullopt;
  if (path.starts_with('<') && path.ends_with('>')) path = path.substr(1, path.size() - 2);
  const std::size_t local_part_bytes = path.find('@');
  if (local_part_bytes == std::string_view::npos) return std::nullopt;
  const Mailbox mailbox = {path.substr(0, local_part_bytes), path.substr(local_part_bytes + 1)};
  if (!std::ranges::all_of(mailbox.local_part, characters::may_stand_unquoted)) return std::nullopt;
  return mailbox;
}

// Ten hex digits by the draft (a key's number, three digits of a day, a hash); existing servers write 8 to 12. Without
// any decimal digit it is a word.
bool is_prvs_tag(std::string_view text) noexcept {
  return text.size() >= 8 && text.size() <= 12 && std::ranges::all_of(text, ascii::is_hex_digit) &&
         std::ranges::any_of(text, ascii::is_digit);
}

std::optional<std::string_view> undo_prvs(std::string_view fields) noexcept {
  const std::size_t first = fields.find('=');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t last = fields.rfind('=');
  const bool tag_is_first = is_prvs_tag(fields.substr(0, first));
  const bool tag_is_last = is_prvs_tag(fields.substr(last + 1));
  if (tag_is_first == tag_is_last) return std::nullopt;
  return tag_is_first ? fields.substr(first + 1) : fields.substr(0, last);
}

std::optional<std::string_view> undo_btv1(std::string_view fields) noexcept {
  const std::string_view tag = take_field(fields);
  if (tag.empty() || !std::ranges::all_of(tag, ascii::is_hex_digit) || !skip(fields, "=")) return std::nullopt;
  return fields;
}

std::optional<Undone> undo_batv(const Mailbox& outer) noexcept {
  std::string_view fields = outer.local_part;
  std::optional<std::string_view> local_part;
  if (skip(fields, "prvs=")) {
    local_part = undo_prvs(fields);
  } else if (skip(fields, "btv1==")) {
    local_part = undo_btv1(fields);
  }
  if (!local_part || local_part->empty()) return std::nullopt;
  return Undone{Rewriting::batv, {*local_part, outer.domain}};
}

bool is_trusted(std::string_view domain, std::span<const std::string> trusted_forwarders) noexcept {
  Domain canonical;
  return canonicalize_host_name(domain, canonical) == RejectReason::none &&
         std::ranges::find(trusted_forwarders, canonical.view()) != trusted_forwarders.end();
}

bool is_hash(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char byte) {
    return ascii::is_letter_or_digit(byte) || byte == '+' || byte == '/';
  });
}

constexpr std::size_t kTimestampBytes = 2;

// `hash=tt=domain=local`. No field before the local part can contain a '=', so there is only one way to read it.
std::optional<Mailbox> read_srs0_fields(std::string_view fields) noexcept {
  const std::string_view hash = take_field(fields);
  const std::string_view timestamp = take_field(fields);
  const std::string_view domain = take_field(fields);
  Domain ignored;
  if (!is_hash(hash) || timestamp.size() != kTimestampBytes ||
      !std::ranges::all_of(timestamp, ascii::is_letter_or_digit) ||
      canonicalize_host_name(domain, ignored) != RejectReason::none || fields.empty()) {
    return std::nullopt;
  }
  return Mailbox{fields, domain};
}

// The character after SRS0 or SRS1; the later separators are all '='.
bool skip_separator(std::string_view& text) noexcept {
  return skip(text, "=") || skip(text, "+") || skip(text, "-");
}

// `hash=first==hash=tt=domain=local`: the text after the first hop's name is its SRS0 address without `SRS0`.
std::optional<Mailbox> read_srs1_fields(std::string_view fields,
                                        std::span<const std::string> trusted_forwarders) noexcept {
  const std::string_view hash = take_field(fields);
  const std::string_view first_forwarder = take_field(fields);
  if (!is_hash(hash) || !is_trusted(first_forwarder, trusted_forwarders) || !skip_separator(fields)) {
    return std::nullopt;
  }
  return read_srs0_fields(fields);
}

std::optional<Undone> undo_srs(const Mailbox& outer, std::span<const std::string> trusted_forwarders) noexcept {
  std::string_view fields = outer.local_part;
  const bool is_srs0 = skip(fields, "srs0");
  if (!is_srs0 && !skip(fields, "srs1")) return std::nullopt;
  if (!skip_separator(fields) || !is_trusted(outer.domain, trusted_forwarders)) return std::nullopt;
  const auto inner = is_srs0 ? read_srs0_fields(fields) : read_srs1_fields(fields, trusted_forwarders);
  if (!inner) return std::nullopt;
  return Undone{is_srs0 ? Rewriting::srs0 : Rewriting::srs1, *inner};
}

}  // namespace

bool RewrittenSender::is_forwarded() const noexcept {
  return std::ranges::any_of(layers(), [](Rewriting each) { return each != Rewriting::batv; });
}

RewrittenSender undo_rewriting(std::string_view path, std::span<const std::string> trusted_forwarders) noexcept {
  const std::optional<Mailbox> outer = split(path);
  if (!outer) return {};
  RewrittenSender result;
  Mailbox mailbox = *outer;
  while (result.layer_count_ < RewrittenSender::kMaxLayers) {
    std::optional<Undone> undone = undo_batv(mailbox);
    if (!undone) undone = undo_srs(mailbox, trusted_forwarders);
    if (!undone) break;
    result.layers_[result.layer_count_++] = undone->rewriting;
    mailbox = undone->inner;
  }
  if (!result.is_undone()) return {};
  result.path_.append(mailbox.local_part);
  result.path_.append('@');
  result.path_.append(mailbox.domain);
  if (result.path_.overflowed()) return {};
  if (canonicalize_domain(outer->domain, result.sending_domain_) != RejectReason::none) return {};
  return result;
}

}  // namespace bloomgate
