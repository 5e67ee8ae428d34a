// Address books: vCards and tables of contacts. For one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/source_reader.hpp"

namespace bloomgate {

// The address of a vCard's line, if it has one (RFC 6350 section 6.4.2, RFC 2426 section 3.3.2):
// `EMAIL;TYPE=work:joe@…`, also in a group (`item1.EMAIL:…`), and also in the encoding of vCard 2.1
// (`EMAIL;INTERNET;ENCODING=QUOTED-PRINTABLE:joe=40…`). `line` must be unfolded. Pure.
std::optional<std::string> vcard_address(std::string_view line);

class VcardReader : public SourceReader {
 public:
  // `users` are those whose contacts the card has. All references, and the memory of `users`, must outlive the reader.
  VcardReader(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, Users users)
      : rules_(rules), counts_(counts), sink_(sink), users_(users) {}

  void read(std::string_view lines) override;
  void finish() override;
  bool has_found() const noexcept override { return has_found_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 12;  // of a line; longer lines hold pictures

  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  Users users_;
  // A line may begin or end a card. The card of a contact may hold that of an agent, whom the contact
  // has chosen and not the user.
  void follow_card(std::string_view line);

  std::string line_;          // unfolded so far
  bool ends_softly_ = false;  // the last line is quoted-printable and ends with `=`: the next line continues it
  bool names_agent_ = false;  // the last line was AGENT: the next card is that of the contact's agent
  bool in_agent_ = false;
  bool has_found_ = false;
};

// Which columns of a table hold addresses, found by the row that names them. Pure.
struct CsvColumns {
  std::vector<std::size_t> contacts = {};  // from 0
  std::optional<std::size_t> user = {};    // the user who wrote to them, if there is such a column
  char separator = ',';                    // between the fields; or a semicolon, or a tab
  std::size_t count = 0;                   // of all columns
  bool is_address_book = false;            // an address book, not a table of users and their correspondents

  // Finds the column `contact`, and `user` if it is there. Otherwise finds every column whose name means mail addresses
  // and nothing else, in English, Dutch, French, German, Italian, Portuguese or Spanish: the names in address books of
  // Google, Outlook, Thunderbird and LinkedIn. Nothing if there is no such column.
  static std::optional<CsvColumns> find(std::string_view row);

  // Whether the names of columns may be in the line after that one: it is empty, or names the separator (`sep=;`).
  // Notes above a table end with an empty line. A correspondent's name in a row could look like names of columns.
  static bool may_come_behind(std::string_view line) noexcept;
};

class CsvContactsReader : public SourceReader {
 public:
  // With `says_users`, the column `user`, if the table has one, gives the user of each row.
  CsvContactsReader(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, Users users, bool says_users)
      : rules_(rules), counts_(counts), sink_(sink), users_(users), says_users_(says_users) {}

  // Throws BloomgateError{bad_argument}, too, if the user of the contacts is not known.
  void read(std::string_view lines) override;
  // Throws the same.
  void finish() override;
  bool has_found() const noexcept override { return has_found_ || (columns_ && !columns_->is_address_book); }

 private:
  static constexpr std::size_t kMostRowBytes = std::size_t{1} << 18;  // with line ends between quotes
  static constexpr int kMostLinesBefore = 50;                         // lines before the names of the columns

  // Whether the line names the columns, and does it better than the lines before it.
  bool take_names(std::string_view line);
  // Notes whether the row continues after `text`, its newest part.
  void follow_quotes(std::string_view text) noexcept;
  void read_row(std::string_view row);
  void read_field(std::string_view field, Users users, const MessageMark& message);

  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  Users users_;
  bool says_users_;
  std::optional<CsvColumns> columns_;  // once their names were read
  std::string row_;                    // the start of a row with a line end between quotes
  bool in_quotes_ = false;             // at the end of `row_`
  int lines_ = 0;                      // so far, at most kMostLinesBefore
  bool may_name_columns_ = true;       // for the next line
  bool has_found_ = false;
};

}  // namespace bloomgate
