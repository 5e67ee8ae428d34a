#include "milter/fields/header_from.hpp"

#include <gmime/gmime.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "filter/address/address.hpp"
#include "filter/address/characters.hpp"
#include "filter/address/local_part.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

// For comparisons only: keeps everything that can differ.
constexpr AddressProfile kExact{.keep_local_part_case = true};

// Reads words, dots, quoted strings and literals that follow each other without anything between them.
std::string_view take_run(StructuredReader& reader) noexcept {
  const std::size_t from = reader.position();
  for (;;) {
    if (reader.peek() == '"') {
      reader.quoted_string();
    } else if (reader.peek() == '[') {
      reader.take_while([](char byte) { return byte != ']' && byte != ' '; });
      if (!reader.take(']')) reader.fail();
    } else if (reader.take_while(characters::is_address_character).empty()) {
      return reader.since(from);
    }
  }
}

// Whether a reader that splits at '@' would look for an address in it.
bool has_unquoted_at_sign(std::string_view run) noexcept {
  StructuredReader reader(run);
  while (!reader.at_end()) {
    if (reader.take('@')) return true;
    if (reader.peek() == '"') {
      reader.quoted_string();
    } else {
      reader.take_while([](char byte) { return byte != '@' && byte != '"'; });
    }
  }
  return false;
}

// From the '<' on: returns the text between the brackets, without the space at its ends.
std::string_view take_angle_address(StructuredReader& reader) noexcept {
  reader.take('<');
  reader.take_while([](char byte) { return byte == ' '; });
  const std::size_t from = reader.position();
  // A source route has commas and a colon.
  while (!take_run(reader).empty() && (reader.take(',') || reader.take(':'))) {
  }
  const std::string_view address = reader.since(from);
  reader.take_while([](char byte) { return byte == ' '; });
  if (!reader.take('>')) reader.fail();
  return address;
}

// An encoded word (RFC 2047) decodes to anything, and some programs decode before they parse. It has a `=?` and later a
// `?=`; `a=?b` alone consists of legal characters.
Entry canonical(std::string_view address) noexcept {
  const std::size_t begin = address.find("=?");
  const bool encoded = begin != std::string_view::npos && address.find("?=", begin + 2) != std::string_view::npos;
  return canonicalize_path(encoded ? std::string_view{} : address, kExact);
}

// The address of a field that is just `address` or `words <address>`, with comments between; empty for any other field.
std::string_view only_address(std::string_view field) noexcept {
  StructuredReader reader(field);
  reader.skip_cfws();
  const std::string_view first = take_run(reader);
  reader.skip_cfws();
  if (reader.at_end() && !reader.failed()) {
    return canonical(first).kind() == EntryKind::address ? first : std::string_view{};
  }

  bool at_sign_in_name = false;
  const bool name_is_one_run = reader.peek() == '<';
  for (std::string_view run = first; !run.empty(); run = take_run(reader)) {
    at_sign_in_name = at_sign_in_name || has_unquoted_at_sign(run);
    reader.skip_cfws();
  }
  if (reader.peek() != '<') return {};
  const std::string_view address = take_angle_address(reader);
  reader.skip_cfws();
  if (reader.failed() || !reader.at_end()) return {};
  const Entry entry = canonical(address);
  if (entry.kind() != EntryKind::address) return {};
  // `joe@example.org <joe@example.org>` is common. If there are two addresses, some programs use the first.
  if (at_sign_in_name && (!name_is_one_run || canonical(first).key() != entry.key())) return {};
  return address;
}

// Whether quotes, comments and literals end properly, and no backslash is outside of them. GMime gets only such fields:
// its version 3.2.13 leaks memory on some others.
bool is_balanced(std::string_view field) noexcept {
  StructuredReader reader(field);
  while (!reader.at_end()) {
    reader.skip_cfws();
    if (take_run(reader).empty() && !reader.at_end()) {
      if (std::string_view("<>,:;").find(reader.peek()) == std::string_view::npos) return false;
      reader.take(reader.peek());
    }
  }
  return !reader.failed();
}

// Turns encoded words in names into plain words. They do not affect the address, and decoding them would load the
// converter for any character set that a sender names.
void hide_encoded_words(std::string& field) noexcept {
  const std::size_t last_end = field.rfind("?=");
  if (last_end == std::string::npos) return;
  for (std::size_t at = field.find("=?"); at != std::string::npos && at + 2 <= last_end; at = field.find("=?", at)) {
    field[at + 1] = '_';
  }
}

// Turns A-labels into labels of letters with which no real label begins. GMime would decode A-labels, and if IDNA does
// not allow the result, such as an emoji, it could not be encoded again.
void hide_a_labels(std::string& text) {
  const std::string lower = ascii::lower_case(text);
  for (std::size_t at = lower.find("xn--"); at != std::string::npos; at = lower.find("xn--", at + 4)) {
    text.replace(at, 4, "xnqq");
  }
}

bool is_plain_character(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || byte == '.' || byte == '-' || byte == '_' || byte == '+';
}

// Words of plain characters that do not start with a character that some readers want in quotes; or such words between
// one pair of quotes, where they may contain commas and apostrophes.
bool is_plain_name(std::string_view name) noexcept {
  name = ascii::trimmed(name, " ");
  const bool is_quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
  if (is_quoted) name = name.substr(1, name.size() - 2);
  if (!is_quoted && !name.empty() && !ascii::is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(name, [is_quoted](char byte) {
    return is_plain_character(byte) || byte == ' ' || (is_quoted && (byte == ',' || byte == '\''));
  });
}

// Whether `field`, with `address` as its only address, has the most common form, which all readers read alike: an
// address of plain words and dots, alone, or at the end in angle brackets with a plain name before it.
bool is_plain(std::string_view field, std::string_view address) noexcept {
  const Entry entry = canonical(address);
  if (entry.local_part().starts_with('"') || !ascii::is_letter_or_digit(address.back()) ||
      !std::ranges::all_of(address, [](char byte) { return is_plain_character(byte) || byte == '@'; })) {
    return false;
  }
  const auto before = static_cast<std::size_t>(address.data() - field.data());
  const std::string_view name = field.substr(0, before);
  const std::string_view rest = field.substr(before + address.size());
  return name.empty() ? rest.empty() : rest == ">" && name.back() == '<' && is_plain_name(name.substr(0, before - 1));
}

// Adds the quotes that RFC 5322 requires to `address`, a part of `field`, as for `j..doe@example.org`. Without them
// GMime finds no mailbox, while other programs do; all find the '@' at the same position.
void quote_local_part(std::string& field, std::string_view address) {
  const Entry entry = canonical(address);
  const bool misses_quotes = entry.local_part().starts_with('"') && address.front() != '"' && address.front() != '@';
  if (!misses_quotes) return;
  const auto at = static_cast<std::size_t>(address.data() - field.data());
  field.insert(at + local_part_extent(address), 1, '"');
  field.insert(at, 1, '"');
}

// Whether, in the original `field`, the `size` bytes from `at` of the unfolded field contain one of these bytes.
bool came_with(std::string_view bytes, std::string_view field, std::size_t at, std::size_t size) noexcept {
  for (const char byte : field) {
    const bool is_line_end = byte == '\r' || byte == '\n';
    if (at == 0 && size == 0) return false;
    if (at == 0 && bytes.find(byte) != std::string_view::npos) return true;
    if (is_line_end) continue;
    (at > 0 ? at : size) -= 1;
  }
  return false;
}

// Whether a quoted string with an '@' in it was folded. Some readers end the string at the line end, and take the text
// before it for the address.
bool has_folded_at_sign(std::string_view sent, std::string_view field) noexcept {
  StructuredReader reader(field);
  for (reader.skip_cfws(); !reader.at_end(); reader.skip_cfws()) {
    const std::size_t begin = reader.position();
    if (reader.peek() != '"') {
      reader.take(reader.peek());
    } else if (const std::string_view quoted = reader.quoted_string(); quoted.find('@') != std::string_view::npos) {
      if (came_with("\r\n", sent, begin + 1, quoted.size() - 1)) return true;
    }
  }
  return false;
}

struct Unref {
  void operator()(InternetAddressList* list) const noexcept { g_object_unref(list); }
};
using AddressList = std::unique_ptr<InternetAddressList, Unref>;

// The library, initialised once for the process and never shut down. One object of each class is made at once, since
// GLib completes a class with its first object.
AddressList parse_with_gmime(const std::string& field) {
  static GMimeParserOptions* const options = [] {
    g_mime_init();
    GMimeParserOptions* made = g_mime_parser_options_new();
    g_mime_parser_options_set_allow_addresses_without_domain(made, FALSE);
    const AddressList first(internet_address_list_parse(made, "group: mailbox@example.org;"));
    return made;
  }();
  return AddressList(internet_address_list_parse(options, field.c_str()));
}

struct Count {
  int mailboxes = 0;
  int without_domain = 0;  // words that GMime treats as mailboxes, for lack of anything better
};

void count(InternetAddressList* list, Count& total) {
  for (int at = 0; at < internet_address_list_length(list); ++at) {
    InternetAddress* address = internet_address_list_get_address(list, at);
    if (INTERNET_ADDRESS_IS_GROUP(address)) {
      count(internet_address_group_get_members(INTERNET_ADDRESS_GROUP(address)), total);
    } else {
      ++total.mailboxes;
      const std::string_view text = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address));
      total.without_domain += text.find('@') == std::string_view::npos ? 1 : 0;
    }
  }
}

bool is_one_mailbox(InternetAddressList* list, std::string_view address) {
  if (list == nullptr || internet_address_list_length(list) != 1) return false;
  InternetAddress* first = internet_address_list_get_address(list, 0);
  if (!INTERNET_ADDRESS_IS_MAILBOX(first)) return false;
  const char* found = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(first));
  return found != nullptr && canonical(found).key() == canonical(address).key();
}

HeaderFromKind kind_of_other(InternetAddressList* list, const std::string& field) {
  if (field.find_first_not_of(' ') == std::string::npos) return HeaderFromKind::no_mailbox;
  if (list == nullptr) return HeaderFromKind::malformed;
  Count total;
  count(list, total);
  if (total.mailboxes == 0) return HeaderFromKind::no_mailbox;
  const bool several = total.mailboxes > 1 && total.without_domain == 0;
  return several ? HeaderFromKind::several_mailboxes : HeaderFromKind::malformed;
}

}  // namespace

HeaderFrom parse_header_from(std::span<const std::string_view> from_fields) {
  if (from_fields.empty()) return {HeaderFromKind::absent};
  if (from_fields.size() > 1) return {HeaderFromKind::several_fields};
  if (from_fields.front().size() > kMaxHeaderFromBytes) return {HeaderFromKind::malformed};
  std::optional<std::string> field = unfold(from_fields.front());
  if (!field || !is_balanced(*field)) return {HeaderFromKind::malformed};

  const std::string_view part = only_address(*field);  // without an encoded word in it
  const std::string address(part);
  // Unfolding has turned a tab into a space, and these are two different local parts. No list can contain the one with
  // the tab.
  const std::string_view sent = from_fields.front();
  if (!part.empty() && came_with("\t", sent, static_cast<std::size_t>(part.data() - field->data()), part.size())) {
    return {HeaderFromKind::malformed};
  }
  // GMime would say the same, and costs more than the whole rest of a decision.
  if (!part.empty() && is_plain(*field, part)) return {HeaderFromKind::one_mailbox, address};
  if (sent.size() != field->size() && has_folded_at_sign(sent, *field)) return {HeaderFromKind::malformed};
  hide_encoded_words(*field);
  hide_a_labels(*field);
  if (!part.empty()) quote_local_part(*field, part);
  const AddressList list = parse_with_gmime(*field);
  if (address.empty()) return {kind_of_other(list.get(), *field)};
  std::string shown = address;
  hide_a_labels(shown);
  if (!is_one_mailbox(list.get(), shown)) return {HeaderFromKind::malformed};
  return {HeaderFromKind::one_mailbox, address};
}

}  // namespace bloomgate
