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

// Whether the name, in lower case, has that word: `e-mail 1 - value` has `mail`, and `mailing address` has not.
bool has_word(std::string_view name, std::string_view word) noexcept {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !ascii::is_letter_or_digit(name[at - 1])) &&
        (end == name.size() || !ascii::is_letter_or_digit(name[end])))
      return true;
  }
  return false;
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
  if (!is_name(name)) return false;
  const auto has = [name](std::string_view word) { return has_word(name, word); };
  return (has("mail") || has("email") || has("emails")) && !has("name") && !has("type") && !has("label");
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
