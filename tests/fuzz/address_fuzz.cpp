// Whatever bytes come as a path or as a line of a list: what holds for each entry must hold for theirs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/domain.hpp"
#include "filter/address/identifier.hpp"

namespace bloomgate {
namespace {

constexpr AddressProfile kFold{.keep_local_part_case = false};
constexpr AddressProfile kKeep{.keep_local_part_case = true};
constexpr TagSeparators kEverySeparator = TagSeparators::from_bits(TagSeparators::kAllBits);
constexpr AddressProfile kFoldUntagged{.keep_local_part_case = false, .tag_separators = kEverySeparator};
constexpr AddressProfile kKeepUntagged{.keep_local_part_case = true, .tag_separators = kEverySeparator};

void require(bool holds, const char* what, const Entry& entry) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\nkey: " << entry.key()
            << "\nreason: " << reject_reason_name(entry.reason()) << '\n';
  std::abort();
}

bool has_control_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const std::string_view rest = text.substr(at);
    if (byte == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0) return true;
    if (rest.starts_with("\u2028") || rest.starts_with("\u2029") || rest.starts_with("\ufeff")) return true;
  }
  return false;
}

bool is_canonical_name(std::string_view domain) {
  if (domain.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") != std::string_view::npos) return false;
  while (!domain.empty()) {
    const std::string_view label = domain.substr(0, domain.find('.'));
    if (label.empty() || label.size() > kMaxLabelBytes) return false;
    if (label.size() + 1 == domain.size()) return false;
    domain.remove_prefix(std::min(label.size() + 1, domain.size()));
  }
  return true;
}

bool is_canonical_literal(std::string_view domain) {
  return domain.starts_with('[') && domain.ends_with(']') &&
         domain.substr(1, domain.size() - 2).find_first_not_of("0123456789abcdef:.ipv") == std::string_view::npos;
}

void check_address(const Entry& entry) {
  require(entry.key().size() <= kMaxAddressBytes, "an address has at most 254 octets", entry);
  require(!entry.local_part().empty(), "an address has a local part", entry);
  require(entry.local_part().data() == entry.key().data(), "the local part is the key's start", entry);
  require(entry.key()[entry.local_part().size()] == '@', "the at sign follows the local part", entry);
  require(entry.local_part().size() + 1 + entry.domain().size() == entry.key().size(), "nothing is between", entry);
}

bool is_wildcard_entry(const Entry& entry) {
  return entry.reason() == RejectReason::wildcard || is_wildcard(entry.local_part());
}

// What is said of a rejected entry.
void check_rejected(const Entry& entry) {
  const bool rejected = entry.kind() == EntryKind::rejected;
  require(rejected || (entry.character() == 0 && entry.suggestion().empty()), "only what is rejected is at fault",
          entry);
  require((entry.reason() == RejectReason::wildcard) != entry.suggestion().empty(), "a wildcard means something",
          entry);
  if (entry.suggestion().empty()) return;
  const Entry suggested = canonicalize_line(entry.suggestion());
  require(suggested.key() == entry.suggestion(), "what is suggested is an entry", entry);
  require(suggested.kind() == EntryKind::domain || suggested.kind() == EntryKind::domain_tree, "of a domain", entry);
}

void check_entry(const Entry& entry) {
  check_rejected(entry);
  require(identifier::find_unseen(entry.key(), identifier::Joiners::pass).character == 0, "a key is seen", entry);
  require(entry.is_key() == !entry.key().empty(), "an entry with a key has one", entry);
  const bool rejected = entry.kind() == EntryKind::rejected;
  require(rejected == (entry.reason() != RejectReason::none), "what is rejected has a reason", entry);
  require(reject_reason_name(entry.reason()) != "unknown", "every reason has a name", entry);
  if (entry.kind() != EntryKind::address) require(entry.local_part().empty(), "only addresses have local parts", entry);
  if (!entry.is_key()) return require(entry.domain().empty(), "only keys have domains", entry);

  const std::string_view domain = entry.domain();
  require(domain.data() + domain.size() == entry.key().data() + entry.key().size(), "the domain is the end", entry);
  require(!domain.empty() && domain.size() <= kMaxDomainBytes, "a domain has 1 to 255 octets", entry);
  require(is_canonical_name(domain) || is_canonical_literal(domain), "the domain is a name or a literal", entry);
  require(!is_signer_key(entry.key()) && !is_mailing_list_key(entry.key()), "it is no list and has no signer", entry);
  require(!has_control_character(entry.key()), "there is no control character", entry);
  if (entry.kind() == EntryKind::address) return check_address(entry);
  const std::string_view prefix = entry.kind() == EntryKind::domain ? "@" : "@.";
  require(entry.key() == std::string(prefix) + std::string(domain), "a domain's key is the domain", entry);
}

void check_same(const Entry& one, const Entry& other, const char* what) {
  require(one.kind() == other.kind() && one.reason() == other.reason() && one.key() == other.key() &&
              one.domain() == other.domain(),
          what, one);
}

void check_same_key(const Entry& entry, AddressProfile profile) {
  if (!entry.is_key()) return;
  const std::string key(entry.key());
  if (is_wildcard(entry.local_part())) {
    check_same(entry, canonicalize_path(key, profile), "a key as a path gives itself");
    return require(canonicalize_line(key, profile).suggestion() == key.substr(1), "its domain is suggested", entry);
  }
  if (!key.starts_with('#')) check_same(entry, canonicalize_line(key, profile), "a key as a line gives itself");
  if (entry.kind() != EntryKind::address) return;
  check_same(entry, canonicalize_line("<" + key + ">", profile), "a key in brackets as a line gives itself");
  check_same(entry, canonicalize_path("<" + key + ">", profile), "a key in brackets as a path gives itself");
  check_same(entry, canonicalize_path(key, profile), "a key as a path gives itself");
}

bool is_too_long(const Entry& entry) {
  return entry.reason() == RejectReason::address_too_long;
}

// Full case folding makes some texts longer and some shorter, so that either profile may find an address too long that
// the other accepts. Nothing else may differ.
void check_profiles(const Entry& folded, const Entry& kept) {
  if (is_too_long(folded) || is_too_long(kept)) return;
  require(folded.kind() == kept.kind() && folded.reason() == kept.reason(), "profiles accept the same", folded);
  require(folded.domain() == kept.domain(), "profiles give the same domain", folded);
  if (kept.kind() != EntryKind::address) return;
  check_same(folded, canonicalize_path(kept.key(), kFold), "folding later is folding at once");
}

// Without its tag it is an address of the same domain, or one that is too long for its quotes.
void check_untagged(const Entry& whole, const Entry& untagged, AddressProfile profile) {
  check_entry(untagged);
  if (is_too_long(untagged) || is_too_long(whole) || is_wildcard_entry(untagged)) return;
  require(whole.kind() == untagged.kind() && whole.reason() == untagged.reason(), "tags change no kind", whole);
  require(whole.domain() == untagged.domain(), "tags change no domain", whole);
  if (whole.kind() != EntryKind::address) return check_same(whole, untagged, "only addresses have tags");
  check_same(untagged, canonicalize_path(whole.key(), profile), "a tag may go at once or later");
}

// A source route is beyond the fast path and changes nothing.
void check_fast_path(const std::string& text, AddressProfile profile) {
  if (text.starts_with('@') || text.size() > kMaxInputBytes - 6) return;
  const Entry fast = canonicalize_path("<" + text + ">", profile);
  if (fast.kind() != EntryKind::address) return;
  check_same(fast, canonicalize_path("<@x:" + text + ">", profile), "the fast path agrees with the grammar");
}

// A line that is read as that entry: in a list, an address that begins with '#' needs angle brackets.
std::string line_of(std::string_view key) {
  if (!key.starts_with('#')) return std::string(key);
  const std::size_t end = is_signer_key(key) ? sides_of_signer_key(key).entry.size() : key.size();
  return "<" + std::string(key.substr(0, end)) + ">" + std::string(key.substr(end));
}

void check_mailing_list(const Entry& entry) {
  const bool is_tree = entry.kind() == EntryKind::mailing_list_tree;
  const std::string_view prefix = is_tree ? kMailingListTreePrefix : kMailingListPrefix;
  require(entry.key() == std::string(prefix) + std::string(entry.domain()), "a list's key is its host", entry);
  require(is_canonical_name(entry.domain()), "a list's host is a name", entry);
  require(!entry.domain().empty() && entry.domain().size() <= kMaxDomainBytes, "it has 1 to 255 octets", entry);
  require(!is_tree || label_count(entry.domain()) <= kMaxFormLabels, "each tree can be asked for", entry);
  require(is_mailing_list_key(entry.key()), "its key is known for that of a list", entry);
  require(!canonicalize_path(entry.key()).is_key(), "a list is no address", entry);
}

// What is one side of a pair, or stands before a signer.
void check_side(std::string_view side, AddressProfile profile, bool may_be_list, const Entry& whole) {
  const Entry entry = canonicalize_list_line(line_of(side), profile);
  require(entry.key() == side, "a side is a key", whole);
  const bool is_list = entry.kind() == EntryKind::mailing_list || entry.kind() == EntryKind::mailing_list_tree;
  require(may_be_list || !is_list, "only a sender is a list", whole);
  if (is_list) {
    check_mailing_list(entry);
  } else {
    check_entry(entry);
  }
  require(entry.kind() == EntryKind::address || label_count(entry.domain()) <= kMaxFormLabels,
          "each form of it can be asked for", whole);
  const EntryForms forms(side);
  require(static_cast<std::size_t>(forms.end() - forms.begin()) <= kMostEntryForms, "a side has few forms", whole);
}

void check_signer(const Entry& entry, AddressProfile profile) {
  require(entry.key().size() <= kMaxSignerKeyBytes, "an entry with a signer fits", entry);
  require(entry.domain().empty(), "it has no domain of its own", entry);
  const SignerSides sides = sides_of_signer_key(entry.key());
  require(!sides.signer.empty() && is_canonical_name(sides.signer), "the signer is a name", entry);
  check_side(sides.entry, profile, true, entry);
  const SignerKey found = find_with_signer(sides.entry, sides.signer, [](std::string_view) { return true; });
  require(found.view() == entry.key(), "it is the first that is asked for", entry);
  check_same(entry, canonicalize_list_line(line_of(entry.key()), profile), "its key gives it again");
}

// A side of a pair is an entry by itself, and the pair's text gives the pair again.
void check_pair(const Entry& entry, AddressProfile profile) {
  require(std::ranges::count(entry.key(), kPairSeparator) == 1, "a pair has one separator", entry);
  require(entry.key().size() <= kMaxPairKeyBytes, "a pair fits", entry);
  const PairSides sides = sides_of_pair(entry.key());
  check_side(sides.sender, profile, true, entry);
  check_side(sides.recipient, profile, false, entry);
  const auto is_address = [](std::string_view side) { return !side.starts_with('@') && !is_mailing_list_key(side); };
  const bool is_of_addresses = is_address(sides.sender) && is_address(sides.recipient);
  require(is_of_addresses == (entry.kind() == EntryKind::pair), "a domain or a list makes it another kind", entry);
  const bool has_comment_signs = sides.sender.starts_with('#') || sides.recipient.starts_with('#');
  if (has_comment_signs) return;
  check_same(entry, canonicalize_list_line(entry_text(entry.key()), profile), "its text gives it again");
}

// A list has more kinds of entries than one line that is no list's.
void check_list_line(std::string_view input, AddressProfile profile) {
  const Entry entry = canonicalize_list_line(input, profile);
  const Entry single = canonicalize_line(input, profile);
  require(single.kind() < EntryKind::mailing_list, "lists, signers and pairs are only in lists", single);
  if (single.kind() != EntryKind::rejected) return check_same(entry, single, "what is an entry is no other in a list");
  require(is_pair_key(entry.key()) == entry.is_pair(), "a pair's key is known for one", entry);
  require((!entry.is_pair() && is_signer_key(entry.key())) == (entry.kind() == EntryKind::with_signer),
          "a key with a signer is known for one", entry);
  switch (entry.kind()) {
    case EntryKind::rejected:
      return;
    case EntryKind::mailing_list:
    case EntryKind::mailing_list_tree:
      check_mailing_list(entry);
      return check_same(entry, canonicalize_list_line(entry.key(), profile), "its key gives it again");
    case EntryKind::with_signer:
      return check_signer(entry, profile);
    case EntryKind::pair:
    case EntryKind::domain_pair:
      require(single.reason() == RejectReason::pair || is_mailing_list_key(sides_of_pair(entry.key()).sender),
              "a pair is rejected as one where none are taken", single);
      return check_pair(entry, profile);
    default:
      require(single.reason() == RejectReason::pair, "only a pair of nothing is blank", entry);
  }
}

void check_input(std::string_view input) {
  for (const AddressProfile profile : {kFold, kKeep, kFoldUntagged}) check_list_line(input, profile);
  for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
    const Entry folded = canonicalize(input, kFold);
    const Entry kept = canonicalize(input, kKeep);
    check_entry(folded);
    check_entry(kept);
    check_same(folded, canonicalize(input, kFold), "the same input gives the same entry");
    check_same_key(folded, kFold);
    check_same_key(kept, kKeep);
    check_profiles(folded, kept);
    const Entry folded_untagged = canonicalize(input, kFoldUntagged);
    check_untagged(folded, folded_untagged, kFoldUntagged);
    check_same_key(folded_untagged, kFoldUntagged);
    const Entry kept_untagged = canonicalize(input, kKeepUntagged);
    check_untagged(kept, kept_untagged, kKeepUntagged);
    check_same_key(kept_untagged, kKeepUntagged);
  }
  check_fast_path(std::string(input), kFold);
  check_fast_path(std::string(input), kKeep);
  check_fast_path(std::string(input), kFoldUntagged);

  const Entry path = canonicalize_path(input, kFold);
  require(path.kind() <= EntryKind::address && path.kind() != EntryKind::blank, "a path is no line", path);
  const Entry line = canonicalize_line(input, kFold);
  require(line.kind() != EntryKind::null_sender, "the null sender is no entry", line);
}

}  // namespace
}  // namespace bloomgate

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bloomgate::check_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
