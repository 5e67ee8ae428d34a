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
// `EMAIL;TYPE=work:joe@…`, also in a group (`item1.EMAIL:…`), and encoded as vCard 2.1 may have it
// (`EMAIL;INTERNET;ENCODING=QUOTED-PRINTABLE:joe=40…`). The line is unfolded. Pure.
std::optional<std::string> vcard_address(std::string_view line);

class VcardReader : public SourceReader {
 public:
  // `users` is whose contacts they are. It, the rules, the counts and the sink are the caller's, who keeps them.
  VcardReader(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, Users users)
      : rules_(rules), counts_(counts), sink_(sink), users_(users) {}

  void read(std::string_view lines) override;
  void finish() override;
  bool has_found() const noexcept override { return has_found_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 12;  // of a line: longer ones hold pictures

  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  Users users_;
  // A line may begin or end a card, and that of a contact may hold the card of an agent, whom the contact has chosen.
  void follow_card(std::string_view line);

  std::string line_;          // unfolded as far as it came
  bool ends_softly_ = false;  // in quoted-printable, with `=`: the next line goes on with it
  bool names_agent_ = false;  // the last line: the next card is that of the contact's agent
  bool in_agent_ = false;
  bool has_found_ = false;
};

// Which columns of a table hold addresses, by the row that names them. Pure.
struct CsvColumns {
  std::vector<std::size_t> contacts = {};  // from 0
  std::optional<std::size_t> user = {};    // who wrote to them, if a column says so
  char separator = ',';                    // between the fields; or a semicolon, or a tab
  std::size_t count = 0;                   // of all columns
  bool is_address_book = false;            // and no table of who wrote to whom

  // `contact`, and `user` if it is there; or else every column that is named as one of mail addresses and of nothing
  // else, in English, Dutch, French, German, Italian, Portuguese or Spanish, as the address books of Google, Outlook,
  // Thunderbird and LinkedIn name them. Nothing if there is none.
  static std::optional<CsvColumns> find(std::string_view row);

  // Whether the names may stand in the line behind that one: it is empty, or says what stands between fields (`sep=;`).
  // Notes above a table end with an empty line. A correspondent's name in a row could look like names of columns.
  static bool may_come_behind(std::string_view line) noexcept;
};

class CsvContactsReader : public SourceReader {
 public:
  // With `says_users` the column `user` says of each row whose contact it is, if the table has one.
  CsvContactsReader(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, Users users, bool says_users)
      : rules_(rules), counts_(counts), sink_(sink), users_(users), says_users_(says_users) {}

  // Throws BloomgateError{bad_argument}, too, if it is not known whose contacts they are.
  void read(std::string_view lines) override;
  // Throws the same.
  void finish() override;
  bool has_found() const noexcept override { return has_found_ || (columns_ && !columns_->is_address_book); }

 private:
  static constexpr std::size_t kMostRowBytes = std::size_t{1} << 18;  // with line ends between quotes
  static constexpr int kMostLinesBefore = 50;                         // the names of the columns

  // Whether the line names the columns, and no line before it has done so better.
  bool take_names(std::string_view line);
  // Whether the row goes on behind the text, its newest part.
  void follow_quotes(std::string_view text) noexcept;
  void read_row(std::string_view row);
  void read_field(std::string_view field, Users users, const MessageMark& message);

  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  Users users_;
  bool says_users_;
  std::optional<CsvColumns> columns_;  // once their names are there
  std::string row_;                    // the start of one with a line end between quotes
  bool in_quotes_ = false;             // at the end of `row_`
  int lines_ = 0;                      // so far, at most kMostLinesBefore
  bool may_name_columns_ = true;       // the next line
  bool has_found_ = false;
};

}  // namespace bloomgate
