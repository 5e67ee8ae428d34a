#include "filter/address/address.hpp"

#include <algorithm>

#include "filter/address/characters.hpp"
#include "filter/address/display_name.hpp"
#include "filter/address/domain.hpp"
#include "filter/address/identifier.hpp"
#include "filter/address/local_part.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {

// Fills in an entry, which is a rejected entry until then.
class EntryWriter {
 public:
  explicit EntryWriter(Entry& entry) noexcept : entry_(entry) {}

  // Rejects the entry, even if it was accepted before.
  void reject(RejectReason reason) noexcept {
    entry_.kind_ = EntryKind::rejected;
    entry_.reason_ = reason;
    entry_.size_ = 0;
  }
  void reject(identifier::Unsuitable found) noexcept {
    reject(found.reason);
    entry_.character_ = found.character;
  }
  void reject_wildcard(std::string_view prefix, std::string_view domain) noexcept {
    reject(RejectReason::wildcard);
    suggest(prefix, domain);
  }
  // For the same reason as another entry.
  void reject_as(const Entry& other) noexcept {
    reject({other.reason_, other.character_});
    suggest({}, other.suggestion());
  }
  void accept_keyless(EntryKind kind) noexcept { entry_.kind_ = kind; }

  void accept_address(std::string_view local_part, std::string_view domain) noexcept {
    char* end = std::copy(local_part.begin(), local_part.end(), entry_.bytes_.begin());
    *end++ = '@';
    std::copy(domain.begin(), domain.end(), end);
    finish(EntryKind::address, local_part.size() + 1, domain.size());
  }

  // For a domain entry or a mailing list.
  void accept_domain(EntryKind kind, std::string_view prefix, std::string_view domain) noexcept {
    char* end = std::copy(prefix.begin(), prefix.end(), entry_.bytes_.begin());
    std::copy(domain.begin(), domain.end(), end);
    finish(kind, prefix.size(), domain.size());
  }

  // The entry must have the key of the part before the signer.
  void append_signer(std::string_view signer) noexcept {
    char* end = std::copy(kSignerSign.begin(), kSignerSign.end(), entry_.bytes_.begin() + entry_.size_);
    std::copy(signer.begin(), signer.end(), end);
    finish(EntryKind::with_signer, entry_.size_ + kSignerSign.size() + signer.size(), 0);
  }

  void accept_pair(const Entry& sender, const Entry& recipient) noexcept {
    const PairKey key = pair_key(sender.key(), recipient.key());
    std::ranges::copy(key.view(), entry_.bytes_.begin());
    const bool is_of_addresses = sender.kind() == EntryKind::address && recipient.kind() == EntryKind::address;
    finish(is_of_addresses ? EntryKind::pair : EntryKind::domain_pair, key.view().size(), 0);
  }

  // The fast path, which nearly every address takes: an ASCII dot-string, '@', ASCII labels, and nothing to do but fold
  // case. If it meets anything else, it returns false and leaves the entry as it was, and the grammar below accepts or
  // rejects it. It may be replaced by anything faster that gives the same results for what it accepts.
  bool accept_plain_address(std::string_view text, AddressProfile profile) noexcept;

 private:
  void suggest(std::string_view prefix, std::string_view domain) noexcept {
    char* end = std::copy(prefix.begin(), prefix.end(), entry_.bytes_.begin());
    std::copy(domain.begin(), domain.end(), end);
    entry_.suggestion_size_ = static_cast<std::uint16_t>(prefix.size() + domain.size());
  }

  void finish(EntryKind kind, std::size_t domain_at, std::size_t domain_bytes) noexcept {
    entry_.kind_ = kind;
    entry_.domain_at_ = static_cast<std::uint16_t>(domain_at);
    entry_.size_ = static_cast<std::uint16_t>(domain_at + domain_bytes);
  }

  Entry& entry_;
};

bool EntryWriter::accept_plain_address(std::string_view text, AddressProfile profile) noexcept {
  if (text.size() > kMaxAddressBytes) return false;
  char* const out = entry_.bytes_.data();
  const std::uint8_t fold = profile.keep_local_part_case ? 0 : characters::kUpper;

  std::size_t at = 0;
  bool in_atom = false;
  for (;; ++at) {
    if (at == text.size()) return false;
    const std::uint8_t byte_class = characters::class_of(text[at]);
    out[at] = static_cast<char>(text[at] | (byte_class & fold));
    if ((byte_class & characters::kAtext) != 0) {
      in_atom = true;
    } else if (!in_atom) {
      return false;
    } else if (text[at] == '.') {
      in_atom = false;
    } else {
      break;
    }
  }
  if (text[at] != '@') return false;
  if (profile.tag_separators.untagged_bytes({out, at}) != at) return false;

  const std::size_t domain_at = at + 1;
  std::size_t label_at = domain_at;
  for (at = domain_at;; ++at) {
    if (at < text.size() && characters::is_domain_character(text[at])) {
      out[at] = ascii::to_lower(text[at]);
      continue;
    }
    const std::size_t label_bytes = at - label_at;
    if (label_bytes == 0 || label_bytes > kMaxLabelBytes) return false;
    if (at == text.size()) break;
    if (text[at] != '.') return false;
    out[at] = '.';
    label_at = at + 1;
  }
  finish(EntryKind::address, domain_at, text.size() - domain_at);
  return true;
}

namespace {

constexpr std::string_view kSpace = " ";

std::string_view without_brackets(std::string_view text) noexcept {
  return text.starts_with('<') && text.ends_with('>') ? text.substr(1, text.size() - 2) : text;
}

// Bytes that are allowed nowhere, not even in a comment: otherwise a file with old Mac line ends would be one long
// comment.
bool has_line_end_or_nul(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos || text.find('\r') != std::string_view::npos ||
         text.find('\n') != std::string_view::npos;
}

// Removes `@host,@host:` from the front of `rest`, which starts with the '@'. The hosts are checked and ignored, as RFC
// 5321 section 3.6.1 requires.
RejectReason skip_source_route(std::string_view& rest) noexcept {
  for (bool first = true;; first = false) {
    rest.remove_prefix(1);
    const std::size_t literal_bytes = rest.starts_with('[') ? rest.find(']') + 1 : 0;
    const std::size_t host_bytes = std::min(rest.find_first_of(",:> \t", literal_bytes), rest.size());
    const std::string_view host = rest.substr(0, host_bytes);
    rest.remove_prefix(host_bytes);
    const bool goes_on = rest.starts_with(',') || rest.starts_with(':');
    if (first && !goes_on) return RejectReason::empty_local_part;  // `<@example.org>` is not a route
    Domain ignored;
    if (!goes_on || canonicalize_domain(host, ignored) != RejectReason::none) return RejectReason::bad_source_route;
    const bool last = rest.starts_with(':');
    rest.remove_prefix(1);
    if (last) return RejectReason::none;
    if (!rest.starts_with('@')) return RejectReason::bad_source_route;
  }
}

// Why `rest`, which follows a local part, does not start with the '@'.
RejectReason reason_without_at_sign(std::string_view rest, bool bracketed) noexcept {
  if (rest.empty() || (bracketed && rest.front() == '>')) return RejectReason::missing_at_sign;
  if (ascii::is_control(rest.front())) return RejectReason::control_character;
  const bool comes_later = rest.find('@') != std::string_view::npos;
  return comes_later ? RejectReason::bad_local_part_character : RejectReason::missing_at_sign;
}

struct Mailbox {
  LocalPart local_part;
  Domain domain;
};

// Removes a path, with or without angle brackets, from the front of `rest`, and writes its canonical mailbox to the
// empty `out`.
RejectReason read_path(std::string_view& rest, AddressProfile profile, Mailbox& out) noexcept {
  const bool bracketed = rest.starts_with('<');
  if (bracketed) rest.remove_prefix(1);
  if (rest.starts_with('@')) {
    if (const RejectReason reason = skip_source_route(rest); reason != RejectReason::none) return reason;
  }

  const std::size_t local_part_bytes = local_part_extent(rest);
  if (local_part_bytes == kUnterminated) return RejectReason::unterminated_quote;
  const std::string_view local_part = rest.substr(0, local_part_bytes);
  rest.remove_prefix(local_part_bytes);
  if (!rest.starts_with('@')) return reason_without_at_sign(rest, bracketed);
  if (local_part.empty()) return RejectReason::empty_local_part;
  rest.remove_prefix(1);

  const std::size_t domain_bytes = std::min(rest.find_first_of(bracketed ? ">" : characters::kBlanks), rest.size());
  const std::string_view domain = rest.substr(0, domain_bytes);
  rest.remove_prefix(domain_bytes);
  if (bracketed ? rest.empty() : domain.find('>') != std::string_view::npos) return RejectReason::unbalanced_brackets;
  if (bracketed) rest.remove_prefix(1);

  const RejectReason reason = canonicalize_local_part(local_part, profile, out.local_part);
  if (reason != RejectReason::none) return reason;
  return canonicalize_domain(domain, out.domain);
}

// Why `rest`, which is not empty, may not follow an entry or path.
RejectReason reason_of_trailing(std::string_view rest) noexcept {
  return ascii::is_control(rest.front()) ? RejectReason::control_character : RejectReason::trailing_text;
}

RejectReason check_after_path(std::string_view rest) noexcept {
  return rest.empty() || rest.starts_with(kSpace) ? RejectReason::none : reason_of_trailing(rest);
}

RejectReason check_after_entry(std::string_view rest) noexcept {
  const std::string_view text = ascii::trimmed_front(rest, characters::kBlanks);
  const bool comment = text.starts_with('#') && text.size() < rest.size();
  return text.empty() || comment ? RejectReason::none : reason_of_trailing(text);
}

// Removes a path, and nothing more, from the front of `rest`. Returns whether it is a mailbox.
bool write_mailbox(std::string_view& rest, AddressProfile profile, EntryWriter& out) noexcept {
  Mailbox mailbox;
  RejectReason reason = read_path(rest, profile, mailbox);
  const std::string_view local_part = mailbox.local_part.view();
  const std::string_view domain = mailbox.domain.view();
  if (reason == RejectReason::none && local_part.size() + 1 + domain.size() > kMaxAddressBytes) {
    reason = RejectReason::address_too_long;
  }
  if (reason == RejectReason::none) {
    out.accept_address(local_part, domain);
  } else {
    out.reject(reason);
  }
  return reason == RejectReason::none;
}

// Removes the text before the first blank from the front of `rest`.
std::string_view take_word(std::string_view& rest) noexcept {
  const std::string_view word = rest.substr(0, rest.find_first_of(characters::kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

// A prefix of an entry that is a domain or a host.
struct DomainForm {
  std::string_view prefix;
  EntryKind kind;
  bool is_for_lists_only;
};
// If one prefix begins with another, the longer one comes first.
constexpr std::array<DomainForm, 4> kDomainForms = {{{"@.", EntryKind::domain_tree, false},
                                                     {"@", EntryKind::domain, false},
                                                     {kMailingListTreePrefix, EntryKind::mailing_list_tree, true},
                                                     {kMailingListPrefix, EntryKind::mailing_list, true}}};

const DomainForm* find_form(std::string_view text, bool with_lists) noexcept {
  const auto* const found = std::ranges::find_if(kDomainForms, [&](const DomainForm& form) {
    return ascii::equal_ignoring_case(text.substr(0, form.prefix.size()), form.prefix);
  });
  const bool is_there = found != kDomainForms.end() && (with_lists || !found->is_for_lists_only);
  return is_there ? found : nullptr;
}

// Removes such an entry from the front of `rest`, which begins with the prefix of `form`. Returns whether it is valid.
bool write_domain_entry(std::string_view& rest, const DomainForm& form, EntryWriter& out) noexcept {
  const std::string_view text = take_word(rest).substr(form.prefix.size());
  Domain domain;
  RejectReason reason =
      form.kind == EntryKind::domain ? canonicalize_domain(text, domain) : canonicalize_host_name(text, domain);
  // Look-ups of a mailing list ask for no other forms (entry_forms.hpp).
  if (reason == RejectReason::none && form.kind == EntryKind::mailing_list_tree &&
      label_count(domain.view()) > kMaxFormLabels) {
    reason = RejectReason::too_many_labels;
  }
  if (reason == RejectReason::none) {
    out.accept_domain(form.kind, form.prefix, domain.view());
  } else {
    out.reject(reason);
  }
  return reason == RejectReason::none;
}

bool is_reason_of_unseen(RejectReason reason) noexcept {
  return reason == RejectReason::invisible_character || reason == RejectReason::foreign_space;
}

// Notes the character that is at fault in the text of a rejected entry. An invisible character explains more than the
// error that the grammar finds because of it.
void name_character(std::string_view text, const Entry& entry, EntryWriter& out) noexcept {
  const RejectReason reason = entry.reason();
  if (reason == RejectReason::too_long || reason == RejectReason::out_of_memory) return;
  identifier::Unsuitable found = identifier::find_unseen(text, identifier::Joiners::pass);
  if (found.character == 0) {
    found.reason = reason;
    if (reason == RejectReason::invisible_character) {
      found = identifier::find_unseen(text, identifier::Joiners::count);
    } else if (reason == RejectReason::compatibility_character) {
      found.character = identifier::find_unsuitable(text, reason);
    } else if (reason == RejectReason::disallowed_character || reason == RejectReason::invalid_idn ||
               reason == RejectReason::control_character) {
      found.character = identifier::find_unsuitable(text, RejectReason::disallowed_character);
    }
  }
  if (found.character != 0) out.reject(found);
}

// `path` must have at most kMaxInputBytes.
void write_path(std::string_view path, AddressProfile profile, EntryWriter& out) noexcept {
  path = ascii::trimmed(path, kSpace);
  if (out.accept_plain_address(without_brackets(path), profile)) return;
  if (has_line_end_or_nul(path)) return out.reject(RejectReason::control_character);
  if (path.starts_with("<>")) {
    path.remove_prefix(2);
    out.accept_keyless(EntryKind::null_sender);
  } else if (!write_mailbox(path, profile, out)) {
    return;
  }
  if (const RejectReason reason = check_after_path(path); reason != RejectReason::none) out.reject(reason);
}

// The position of the '>' of a pair: the first one with a space on each side that is neither quoted, nor in angle
// brackets, nor in a comment. npos if there is none.
std::size_t find_pair_sign(std::string_view line) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  if (line.find('>') == kNone) return kNone;
  const auto is_blank = [&](std::size_t at) { return at < line.size() && characters::kBlanks.find(line[at]) != kNone; };
  bool in_brackets = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    switch (line[at]) {
      case '"': {
        const std::size_t quoted_bytes = local_part_extent(line.substr(at));
        if (quoted_bytes == kUnterminated) return kNone;
        at += quoted_bytes - 1;
        break;
      }
      case '<':
        in_brackets = true;
        break;
      case '#':
        if (!in_brackets && at > 0 && is_blank(at - 1)) return kNone;
        break;
      case '>':
        if (!in_brackets && at > 0 && is_blank(at - 1) && is_blank(at + 1)) return at;
        in_brackets = false;
        break;
      default:
        break;
    }
  }
  return kNone;
}

// Why an entry may not be one side of a pair, or come before a signer.
RejectReason reason_of_side(const Entry& side) noexcept {
  if (side.kind() == EntryKind::blank) return RejectReason::incomplete_pair;
  if (side.kind() == EntryKind::address) return RejectReason::none;
  return label_count(side.domain()) > kMaxFormLabels ? RejectReason::too_many_labels : RejectReason::none;
}

void write_pair(const Entry& sender, const Entry& recipient, EntryWriter& out) noexcept {
  if (sender.kind() == EntryKind::blank && recipient.kind() == EntryKind::blank) {
    return out.accept_keyless(EntryKind::blank);
  }
  for (const Entry* const side : {&sender, &recipient}) {
    if (side->kind() == EntryKind::rejected) return out.reject_as(*side);
    if (const RejectReason reason = reason_of_side(*side); reason != RejectReason::none) return out.reject(reason);
  }
  out.accept_pair(sender, recipient);
}

// Which entries a text may have: those of senders, for the recipient of a pair; those and mailing lists, for its
// sender; or all.
enum class Allowed : std::uint8_t { senders, senders_and_lists, all };

// Removes an entry without a signer from the front of `rest`, and writes it. Returns whether it is one.
bool take_entry(std::string_view& rest, AddressProfile profile, Allowed allowed, EntryWriter& out) noexcept {
  const DomainForm* const form = find_form(rest, allowed != Allowed::senders);
  if (form != nullptr) return write_domain_entry(rest, *form, out);
  if (const RejectReason reason = skip_display_name(rest); reason != RejectReason::none) {
    out.reject(reason);
    return false;
  }
  return write_mailbox(rest, profile, out);
}

// Removes the sign before a signer from the front of `rest`. Returns whether it is there.
bool take_signer_sign(std::string_view& rest) noexcept {
  constexpr std::string_view kWord = ascii::trimmed(kSignerSign, kSpace);
  std::string_view text = ascii::trimmed_front(rest, characters::kBlanks);
  if (text.size() == rest.size() || !ascii::equal_ignoring_case(take_word(text), kWord)) return false;
  rest = ascii::trimmed_front(text, characters::kBlanks);
  return true;
}

// Removes the signer of an entry from the front of `rest`, and appends it.
void take_signer(const Entry& entry, std::string_view& rest, EntryWriter& out) noexcept {
  Domain signer;
  RejectReason reason = reason_of_side(entry);
  if (reason == RejectReason::none) reason = canonicalize_host_name(take_word(rest), signer);
  if (reason != RejectReason::none) return out.reject(reason);
  out.append_signer(signer.view());
}

Entry canonicalize_side(std::string_view side, AddressProfile profile, Allowed allowed) noexcept;

// For a line that is neither blank nor a pair, without the white space around it.
void write_single(std::string_view text, AddressProfile profile, Allowed allowed, Entry& entry) noexcept {
  EntryWriter out(entry);
  if (text.starts_with("<>")) return out.reject(RejectReason::null_sender_in_list);
  if (!take_entry(text, profile, allowed, out)) return;
  if (is_wildcard(entry.local_part())) return;
  if (allowed == Allowed::all && take_signer_sign(text)) take_signer(entry, text, out);
  if (entry.kind() == EntryKind::rejected) return;
  if (const RejectReason reason = check_after_entry(text); reason != RejectReason::none) out.reject(reason);
}

// Rejects wildcards in the result of write_single() for the same text, and adds details to rejected entries.
void review_single(std::string_view text, Entry& entry) noexcept {
  EntryWriter out(entry);
  if (is_wildcard(entry.local_part())) return out.reject_wildcard("@", entry.domain());
  if (entry.kind() != EntryKind::rejected) return;
  // In the comment, only the characters that reject a name or a comment itself are at fault.
  text = text.substr(0, std::min(text.find(" #"), text.find("\t#")));
  const bool name_is_sound = skip_display_name(text) == RejectReason::none;
  std::string_view rest = text;
  const Wildcard wildcard = read_wildcard(take_word(rest));
  if (!wildcard.prefix.empty()) return out.reject_wildcard(wildcard.prefix, wildcard.domain.view());
  if (name_is_sound || is_reason_of_unseen(entry.reason())) name_character(text, entry, out);
}

// For a line without its end, or one side of a pair; of at most kMaxInputBytes.
void write_entry(std::string_view text, AddressProfile profile, Allowed allowed, Entry& entry) noexcept {
  EntryWriter out(entry);
  text = ascii::trimmed(text, characters::kBlanks);
  const bool comment = text.starts_with('#');
  const bool is_plain = !comment && out.accept_plain_address(without_brackets(text), profile);
  if (is_plain && !is_wildcard(entry.local_part())) return;
  if (has_line_end_or_nul(text)) return out.reject(RejectReason::control_character);
  if (comment || text.empty()) return out.accept_keyless(EntryKind::blank);
  const std::size_t sign = find_pair_sign(text);
  if (sign != std::string_view::npos && allowed == Allowed::all) {
    return write_pair(canonicalize_side(text.substr(0, sign), profile, Allowed::senders_and_lists),
                      canonicalize_side(text.substr(sign + 1), profile, Allowed::senders), out);
  }
  if (sign != std::string_view::npos && text.substr(0, sign).find('@') < sign) return out.reject(RejectReason::pair);
  write_single(text, profile, allowed, entry);
  review_single(text, entry);
}

Entry canonicalize_side(std::string_view side, AddressProfile profile, Allowed allowed) noexcept {
  Entry entry;
  if (side.size() > kMaxInputBytes) {
    EntryWriter(entry).reject(RejectReason::too_long);
  } else {
    write_entry(side, profile, allowed, entry);
  }
  return entry;
}

Entry entry_of_line(std::string_view line, AddressProfile profile, Allowed allowed) noexcept {
  Entry entry;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxInputBytes) {
    EntryWriter(entry).reject(RejectReason::too_long);
    return entry;
  }
  // A byte-order mark may begin a file. It may not begin a side of a pair.
  if (line.starts_with("\ufeff")) line.remove_prefix(std::string_view("\ufeff").size());
  write_entry(line, profile, allowed, entry);
  return entry;
}

}  // namespace

std::string reject_text(const Entry& entry) {
  std::string text(reject_reason_text(entry.reason()));
  if (entry.character() != 0) text.append(": ").append(identifier::character_text(entry.character()));
  if (is_reason_of_unseen(entry.reason())) text.append("; type it again instead of copying it");
  if (!entry.suggestion().empty()) text.append("; write ").append(entry.suggestion());
  return text;
}

Entry canonicalize_path(std::string_view path, AddressProfile profile) noexcept {
  Entry entry;
  EntryWriter writer(entry);
  if (path.size() > kMaxInputBytes) {
    writer.reject(RejectReason::too_long);
    return entry;
  }
  write_path(path, profile, writer);
  if (entry.kind() == EntryKind::rejected) name_character(path, entry, writer);
  return entry;
}

Entry canonicalize_line(std::string_view line, AddressProfile profile) noexcept {
  return entry_of_line(line, profile, Allowed::senders);
}

Entry canonicalize_list_line(std::string_view line, AddressProfile profile) noexcept {
  return entry_of_line(line, profile, Allowed::all);
}

Entry canonicalize_pair(std::string_view sender, std::string_view recipient, AddressProfile profile) noexcept {
  Entry entry;
  EntryWriter writer(entry);
  write_pair(canonicalize_side(sender, profile, Allowed::senders_and_lists),
             canonicalize_side(recipient, profile, Allowed::senders), writer);
  return entry;
}

}  // namespace bloomgate
