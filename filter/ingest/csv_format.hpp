// Lists that are a column of a table: comma-separated values as in RFC 4180 section 2, or with semicolons or tabs,
// which the first row of each list shows. The column's fields are read like the lines of a text list; a field may hold
// line ends between quotes. Two columns give pairs.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "filter/ingest/format.hpp"

namespace bloomgate {

// The fields of a row. Nothing if its quotes are wrong. A line end after the row is ignored.
std::optional<std::vector<std::string>> split_csv_row(std::string_view row, char separator);

// The separator of the fields of that row: comma, semicolon or tab, whichever gives most fields.
char csv_separator_of(std::string_view row);

class CsvFormat : public Format {
 public:
  // `columns` is a number from 1, or a name in the first row of each list, or two of these with a comma between them.
  // If all are numbers, a first row without an `@` in these columns has names, too, and is not an entry. Throws
  // UsageError for 0, and for more than two columns.
  CsvFormat(const std::string& columns, std::size_t input_count);

  bool quotes_line_ends() const noexcept override { return true; }
  ListLine read(const Block& block, std::string_view line, AddressProfile profile) const override;

 private:
  struct Column {
    std::string name = {};  // empty if the column has a number
    std::size_t number = 0;
  };
  struct Found {  // in the first row of a list
    char separator = ',';
    std::vector<std::size_t> numbers = {};  // of the columns, from 0
    bool has_names = false;                 // the row has names and is not an entry
  };
  struct Input {
    std::promise<Found> found;
    std::shared_future<Found> columns = found.get_future().share();
  };

  // Waits for the worker that reads the first block of that list.
  void begin_block(const Block& block, const std::string& name) override;

  static Column column_of(const std::string& text);
  Found find_columns(std::string_view first_row, const std::string& list) const;
  std::size_t find_name(const std::string& name, const std::vector<std::string>& fields, const std::string& list) const;

  std::vector<Column> columns_;
  bool has_names_ = false;  // at least one of the columns was given by name
  std::vector<Input> inputs_;
};

}  // namespace bloomgate
