#include "filter/cli/harvest/csv_contacts.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/cli/lists/csv_format.hpp"

namespace bloomgate::cli {
namespace {

// A line of text that is no row of names often has one long field.
constexpr std::size_t kMostNameBytes = 60;

// A name of a column of addresses has one of these words, in lower case.
constexpr std::string_view kMailWords[] = {"mail",        "mails",        "email",        "emails",
                                           "mailadresse", "emailadresse", "mailadressen", "mailadres",
                                           "emailadres",  "mailadress",   "emailadress",  "courriel"};
// And no other ones than these and numbers: `display name of e-mail` in any language, `e-mail notes` and `reply e-mail`
// are columns of what a correspondent has chosen.
constexpr std::string_view kOtherWords[] = {
    "e",      "address",        "addresses", "adresse",    "adressen",  "adres",   "adress", "adresa",
    "value",  "primary",        "secondary", "other",      "home",      "work",    "main",   "first",
    "second", "personal",       "private",   "privat",     "business",  "company", "office", "weitere",
    "zweite", "prim\xc3\xa4re", "principal", "principale", "secondaire"};

constexpr bool is_part_of_word(char byte) noexcept {
  return ascii::is_letter_or_digit(byte) || static_cast<unsigned char>(byte) >= 0x80;
}

// Whether all words of the name, in lower case, are among these: `e-mail 1 - value` are, and `mailing address` are not.
bool has_only_words_of_mail(std::string_view name) noexcept {
  const auto is_one_of = [](std::string_view word, const auto& words) {
    return std::ranges::find(words, word) != std::end(words);
  };
  bool has_mail = false;
  while (true) {
    const auto begin = std::ranges::find_if(name, is_part_of_word);
    if (begin == name.end()) return has_mail;
    name.remove_prefix(static_cast<std::size_t>(begin - name.begin()));
    const auto end = std::ranges::find_if_not(name, is_part_of_word);
    const std::string_view word = name.substr(0, static_cast<std::size_t>(end - name.begin()));
    name.remove_prefix(word.size());
    if (is_one_of(word, kMailWords)) {
      has_mail = true;
    } else if (!is_one_of(word, kOtherWords) && !std::ranges::all_of(word, ascii::is_digit)) {
      return false;
    }
  }
}

// So many words has a name of a column at most: `personal e-mail address`, `e-mail 1 - value`.
constexpr int kMostWords = 3;

// How many words begin with a letter.
int words_of(std::string_view text) noexcept {
  int words = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (ascii::is_letter(text[at]) && (at == 0 || text[at - 1] == ' ')) ++words;
  }
  return words;
}

// The names of columns are a few words, unlike text and the lines of logs.
bool is_name(std::string_view text) noexcept {
  return text.size() <= kMostNameBytes && words_of(text) <= kMostWords &&
         text.find_first_of("@:./=[]<>") == std::string_view::npos;
}

// What a correspondent has chosen, such as a name, is no address, even if it looks like one.
bool holds_addresses(std::string_view name) noexcept {
  return is_name(name) && has_only_words_of_mail(name);
}

// Of a table with one column.
bool is_mail_alone(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"mail",          "email",          "e-mail",
                                                      "email address", "e-mail address", "mail address"};
  return std::ranges::any_of(kNames, [name](std::string_view each) { return ascii::equal_ignoring_case(each, name); });
}

std::optional<CsvColumns> find_between(std::string_view first_row, char separator) {
  const auto names = split_csv_row(first_row, separator);
  if (!names) return std::nullopt;
  CsvColumns named = {.separator = separator};
  CsvColumns mail = {.separator = separator};
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

std::optional<CsvColumns> CsvColumns::find(std::string_view first_row) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (first_row.starts_with(kByteOrderMark)) first_row.remove_prefix(kByteOrderMark.size());
  // In the order of how seldom they are part of a name.
  for (const char separator : {'\t', ';', ','}) {
    if (first_row.find(separator) == std::string_view::npos) continue;
    if (const std::optional<CsvColumns> found = find_between(first_row, separator)) return found;
  }
  return find_between(first_row, ',');
}

}  // namespace bloomgate::cli
