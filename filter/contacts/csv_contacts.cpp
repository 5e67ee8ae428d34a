#include "filter/contacts/csv_contacts.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/ingest/csv_format.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostNameBytes = 60;

// All words are in lower case and without their letters beyond ASCII, which a table has in any character set.
//
// A name of a column of addresses has one of these words.
constexpr std::string_view kMailWords[] = {
    "mail",        "mails",      "email",      "emails",      "mailadresse",  "emailadresse", "mailadressen",
    "mailadres",   "emailadres", "mailadress", "emailadress", "emailaddress", "smtpaddress",  "primarysmtpaddress",
    "courriel",    "courriels",  "messagerie", "correo",      "correio",      "lectronique",  "electronique",
    "elettronica", "elettronico"};
// And no other ones than these and numbers: `display name of e-mail` in any language, `e-mail notes` and `reply e-mail`
// are columns of what a correspondent has chosen.
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

// What a correspondent has chosen, such as a name, is no address, even if it looks like one.
bool holds_addresses(std::string_view name) {
  return name.size() <= kMostNameBytes && name.find_first_of("@./=[]<>") == std::string_view::npos &&
         has_only_words_of_mail(name);
}

// Of a table with one column.
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
  // A line of one field is more likely a text.
  if (names->size() == 1 && !is_mail_alone(names->front())) return std::nullopt;
  if (!mail.contacts.empty()) return mail;
  return std::nullopt;
}

}  // namespace

bool CsvColumns::may_come_behind(std::string_view line) noexcept {
  constexpr std::string_view kSeparator = "sep=";
  line = ascii::trimmed(line, " \t\r\n");
  return line.empty() || ascii::equal_ignoring_case(line.substr(0, kSeparator.size()), kSeparator);
}

std::optional<CsvColumns> CsvColumns::find(std::string_view row) {
  row = ascii::without_byte_order_mark(row);
  // In the order of how seldom they are part of a name.
  for (const char separator : {'\t', ';', ','}) {
    if (row.find(separator) == std::string_view::npos) continue;
    if (const std::optional<CsvColumns> found = find_between(row, separator)) return found;
  }
  return find_between(row, ',');
}

}  // namespace bloomgate
