#include "filter/contacts/address_book.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/ingest/csv_format.hpp"
#include "filter/ingest/format.hpp"
#include "filter/mail/mail_header.hpp"
#include "filter/mail/transfer_encoding.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kBlanksAndLineEnds = " \t\r\n";

// The first `wanted` that is not between double quotes.
std::size_t find_unquoted(std::string_view text, char wanted) noexcept {
  bool in_quotes = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_quotes = !in_quotes;
    if (text[at] == wanted && !in_quotes) return at;
  }
  return std::string_view::npos;
}

// Whether the line has a parameter ENCODING=QUOTED-PRINTABLE, which vCard 2.1 also writes without its name.
bool is_quoted_printable(std::string_view line) noexcept {
  constexpr std::string_view kName = "ENCODING=";
  std::string_view head = line.substr(0, find_unquoted(line, ':'));
  while (head.size() != line.size()) {
    const std::size_t next = head.find(';');
    if (next == std::string_view::npos) return false;
    head.remove_prefix(next + 1);
    // A fold may have left blanks before the parameter's name.
    std::string_view parameter = ascii::trimmed(head.substr(0, head.find(';')), kBlanksAndLineEnds);
    if (ascii::equal_ignoring_case(parameter.substr(0, kName.size()), kName)) parameter.remove_prefix(kName.size());
    if (ascii::equal_ignoring_case(parameter, "QUOTED-PRINTABLE")) return true;
  }
  return false;
}

constexpr std::size_t kMostNameBytes = 60;

// All words are in lower case and without letters beyond ASCII, since a table may be in any character set.
//
// The name of a column of addresses has one of these words.
constexpr std::string_view kMailWords[] = {
    "mail",        "mails",      "email",      "emails",      "mailadresse",  "emailadresse", "mailadressen",
    "mailadres",   "emailadres", "mailadress", "emailadress", "emailaddress", "smtpaddress",  "primarysmtpaddress",
    "courriel",    "courriels",  "messagerie", "correo",      "correio",      "lectronique",  "electronique",
    "elettronica", "elettronico"};
// It has no words but the above, these and numbers: `display name of e-mail` in any language, `e-mail notes` and `reply
// e-mail` are columns with text that a correspondent has chosen.
constexpr std::string_view kOtherWords[] = {
    "e",          "address",    "addresses",  "adresse",   "adressen",  "adres",       "adress",      "adresa",
    "indirizzo",  "direccin",   "direccion",  "endereo",   "posta",     "electrnico",  "electronico", "eletrnico",
    "value",      "valeur",     "wert",       "valor",     "valore",    "de",          "del",         "di",
    "primary",    "primre",     "premire",    "primaire",  "primair",   "primaria",    "primario",    "principal",
    "principale", "main",       "first",      "second",    "secondary", "sekundre",    "secondaire",  "secundaria",
    "secundario", "secondaria", "secondario", "zweite",    "tweede",    "voornaamste", "alternate",   "alternative",
    "other",      "andere",     "weitere",    "autre",     "otro",      "altro",       "home",        "private",
    "privat",     "priv",       "personal",   "persnlich", "personnel", "personnelle", "particular",  "casa",
    "work",       "business",   "company",    "office",    "arbeit",    "geschftlich", "beruflich",   "dienstlich",
    "bureau",     "travail",    "trabajo",    "trabalho",  "lavoro",    "werk"};

constexpr bool is_part_of_word(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || !ascii::is_ascii(byte);
}

// Whether the words of the name are those of a column of addresses: `e-mail 1 - value`, and not `mailing address`.
bool has_only_words_of_mail(std::string_view name) {
  const auto is_one_of = [](std::string_view word, const auto& words) {
    return std::ranges::find(words, word) != std::end(words);
  };
  bool has_mail = false;
  while (true) {
    const auto* const begin = std::ranges::find_if(name, is_part_of_word);
    if (begin == name.end()) return has_mail;
    name.remove_prefix(static_cast<std::size_t>(begin - name.begin()));
    const auto* const end = std::ranges::find_if_not(name, is_part_of_word);
    std::string word(name.begin(), end);
    name.remove_prefix(word.size());
    std::erase_if(word, [](char byte) { return !ascii::is_ascii(byte); });
    if (is_one_of(word, kMailWords)) {
      has_mail = true;
    } else if (!is_one_of(word, kOtherWords) && !std::ranges::all_of(word, ascii::is_digit)) {
      return false;
    }
  }
}

// Whether a column of that name holds addresses. Text that a correspondent has chosen, such as a name, is not an
// address, even if it looks like one.
bool holds_addresses(std::string_view name) {
  return name.size() <= kMostNameBytes && name.find_first_of("@./=[]<>") == std::string_view::npos &&
         has_only_words_of_mail(name);
}

// For a table with one column.
bool is_mail_alone(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"mail",          "email",          "e-mail",
                                                      "email address", "e-mail address", "mail address"};
  return std::ranges::any_of(kNames, [name](std::string_view each) { return ascii::equal_ignoring_case(each, name); });
}

std::optional<CsvColumns> find_between(std::string_view row, char separator) {
  const auto names = split_csv_row(row, separator);
  if (!names) return std::nullopt;
  CsvColumns named = {.separator = separator, .count = names->size()};
  CsvColumns mail = {.separator = separator, .count = names->size(), .is_address_book = true};
  for (std::size_t column = 0; column < names->size(); ++column) {
    const std::string name = ascii::lower_case(ascii::trimmed((*names)[column], " "));
    if (name.find('@') != std::string::npos) return std::nullopt;
    if (name == "user") named.user = column;
    if (name == "contact") named.contacts.push_back(column);
    if (holds_addresses(name)) mail.contacts.push_back(column);
  }
  if (!named.contacts.empty()) return named;
  // A line with one field is more likely a text.
  if (names->size() == 1 && !is_mail_alone(names->front())) return std::nullopt;
  if (!mail.contacts.empty()) return mail;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> vcard_address(std::string_view line) {
  constexpr std::string_view kScheme = "mailto:";
  const std::size_t colon = find_unquoted(line, ':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(0, std::min(colon, line.find(';')));
  name = name.substr(name.rfind('.') + 1);  // npos + 1 is the beginning
  if (!ascii::equal_ignoring_case(name, "EMAIL")) return std::nullopt;
  std::string decoded;
  std::string_view value = line.substr(colon + 1);
  if (is_quoted_printable(line)) {
    decode_quoted_printable(value, [&](char byte) { decoded += byte; });
    value = decoded;
  }
  value = ascii::trimmed(value, kBlanksAndLineEnds);
  if (ascii::equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) value.remove_prefix(kScheme.size());
  std::string address;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool escapes = value[at] == '\\' && at + 1 < value.size() &&
                         std::string_view(",;:").find(value[at + 1]) != std::string_view::npos;
    if (!escapes) address += value[at];
  }
  return address;
}

void VcardReader::read(std::string_view lines) {
  while (!lines.empty()) {
    std::string_view line = take_text_line(lines);
    if (ends_softly_) {
      if (line_.size() + line.size() <= kMostBytes) line_ += line;
    } else if (!line.starts_with(' ') && !line.starts_with('\t')) {
      finish();
      line_ = line.substr(0, kMostBytes);
    } else if (line_.size() + line.size() <= kMostBytes) {
      line_ += line.substr(1);
    }
    // The next line is then a part of this one, whatever it looks like. The same holds if the parameters are too long.
    line = ascii::trimmed_back(line, " \t");
    ends_softly_ = line.ends_with('=') && (is_quoted_printable(line_) || find_unquoted(line_, ':') == line_.npos);
    if (!ends_softly_) continue;
    line_.erase(ascii::trimmed_back(line_, " \t").size());
    if (line_.ends_with('=')) line_.pop_back();
  }
}

void VcardReader::follow_card(std::string_view line) {
  line = ascii::trimmed(line, kBlanksAndLineEnds);
  if (ascii::equal_ignoring_case(line, "BEGIN:VCARD")) in_agent_ = names_agent_;
  if (ascii::equal_ignoring_case(line, "END:VCARD")) in_agent_ = false;
  constexpr std::string_view kAgent = "AGENT";
  names_agent_ = ascii::equal_ignoring_case(line.substr(0, line.find_first_of(":;")), kAgent);
}

void VcardReader::finish() {
  follow_card(line_);
  if (const auto address = vcard_address(line_); address && !in_agent_) {
    has_found_ = true;
    add_contact(canonicalize_line(*address), users_, {}, rules_, counts_, sink_);
  }
  line_.clear();
  ends_softly_ = false;
}

void CsvContactsReader::read(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view rest = lines;
    const std::string_view line = take_text_line(lines);
    if (row_.empty() && lines_ < kMostLinesBefore && take_names(line)) continue;
    if (!columns_) continue;
    const std::string_view with_end = rest.substr(0, rest.size() - lines.size());
    row_ += with_end;
    follow_quotes(with_end);
    if (in_quotes_ && row_.size() <= kMostRowBytes) continue;
    if (in_quotes_) {
      counts_.leave_out(LeftOut::unreadable);
    } else {
      read_row(row_);
    }
    row_.clear();
    in_quotes_ = false;
  }
}

// Only a quote at the start of a field opens a quoted field.
void CsvContactsReader::follow_quotes(std::string_view text) noexcept {
  bool may_open = row_.size() == text.size();
  for (const char byte : text) {
    const bool is_quote = byte == '"';
    const bool may_close = in_quotes_;
    in_quotes_ = in_quotes_ ? !is_quote : is_quote && may_open;
    // Two quotes stand for one quote.
    may_open = may_close || byte == columns_->separator;
  }
}

void CsvContactsReader::finish() {
  if (!row_.empty()) counts_.leave_out(LeftOut::unreadable);
  row_.clear();
  if (users_.empty() && !(columns_ && columns_->user)) throw unknown_user("an address book");
}

// Notes above the names may look like names, too, but have fewer fields.
bool CsvContactsReader::take_names(std::string_view line) {
  ++lines_;
  if (!std::exchange(may_name_columns_, CsvColumns::may_come_behind(line))) return false;
  std::optional<CsvColumns> found = CsvColumns::find(line);
  if (!found || (columns_ && found->count <= columns_->count)) return false;
  columns_ = std::move(found);
  if (!says_users_) columns_->user.reset();
  return true;
}

void CsvContactsReader::read_row(std::string_view row) {
  const auto fields = split_csv_row(row, columns_->separator);
  if (!fields) return counts_.leave_out(LeftOut::unreadable);
  // If a row has more fields than names, an unquoted field has a separator in it, and what looks like an address may be
  // a part of a name.
  for (std::size_t more = columns_->count; more < fields->size(); ++more) {
    if (!(*fields)[more].empty()) return counts_.leave_out(LeftOut::unreadable);
  }
  std::string user;
  Users users = users_;
  if (columns_->user) {
    const Entry entry = canonicalize_line(*columns_->user < fields->size() ? (*fields)[*columns_->user] : "");
    if (entry.kind() != EntryKind::address || !rules_.own_domains.contains(entry.domain())) {
      return counts_.leave_out(LeftOut::foreign_sender);
    }
    user = entry.key();
    users = Users(&user, 1);
  }
  // A row that names a user is one message of a log. In an address book, a contact that occurs more often is still one.
  MessageMark message = {};
  if (columns_->user) message = {.hash = counts_.contacts, .is_logged = true};
  for (const std::size_t column : columns_->contacts) {
    if (column < fields->size()) read_field((*fields)[column], users, message);
  }
}

void CsvContactsReader::read_field(std::string_view field, Users users, const MessageMark& message) {
  // Google writes several addresses into one field.
  constexpr std::string_view kBetween = ":::";
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(kBetween), field.size());
    const std::string_view one = ascii::trimmed(field.substr(0, end), kBlanksAndLineEnds);
    // In some rows a column of addresses may hold other text.
    if (one.find('@') != std::string_view::npos) {
      has_found_ = true;
      add_contact(canonicalize_line(one), users, message, rules_, counts_, sink_);
    }
    field.remove_prefix(std::min(end + kBetween.size(), field.size()));
  }
}

bool CsvColumns::may_come_behind(std::string_view line) noexcept {
  constexpr std::string_view kSeparator = "sep=";
  line = ascii::trimmed(line, " \t\r\n");
  return line.empty() || ascii::equal_ignoring_case(line.substr(0, kSeparator.size()), kSeparator);
}

std::optional<CsvColumns> CsvColumns::find(std::string_view row) {
  row = ascii::without_byte_order_mark(row);
  // The separator that is the rarest in names comes first.
  for (const char separator : {'\t', ';', ','}) {
    if (row.find(separator) == std::string_view::npos) continue;
    if (const std::optional<CsvColumns> found = find_between(row, separator)) return found;
  }
  return find_between(row, ',');
}

}  // namespace bloomgate
