// Lists that are a column of a table: comma-separated values as in RFC 4180 section 2. The column's fields are read
// like the lines of a text list; a field may hold line ends between quotes. Two columns give pairs.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "filter/cli/lists/format.hpp"

namespace bloomgate::cli {

// The fields of a row. Nothing if its quotes are wrong. A line end after the row is left out.
std::optional<std::vector<std::string>> split_csv_row(std::string_view row, char separator = ',');

class CsvFormat : public Format {
 public:
  // `columns` is a number from 1, or a name in the first row of each list, or two such with a comma between them.
  // Throws UsageError for 0, and for more than two.
  CsvFormat(const std::string& columns, std::size_t input_count);

  bool quotes_line_ends() const noexcept override { return true; }
  // With the name of a column, waits for the worker that has the first block of that list.
  void start_block(const Block& block, const std::string& name) override;
  ListLine read(const Block& block, std::string_view line, AddressProfile profile) const override;

 private:
  struct Column {
    std::string name = {};  // empty if the column has a number
    std::size_t number = 0;
  };
  using Numbers = std::vector<std::size_t>;  // of the columns, from 0
  struct Input {
    std::promise<Numbers> found;
    std::shared_future<Numbers> columns = found.get_future().share();
  };

  static Column column_of(const std::string& text);
  Numbers find_columns(std::string_view header, const std::string& list) const;

  std::vector<Column> columns_;
  Numbers numbers_;         // if no column has a name
  bool has_names_ = false;  // at least one of the columns
  std::vector<Input> inputs_;
};

}  // namespace bloomgate::cli
