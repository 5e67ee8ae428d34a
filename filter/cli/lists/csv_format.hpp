// Lists that are a column of a table: comma-separated values as in RFC 4180 section 2. The column's fields are read
// like the lines of a text list; a field may hold line ends between quotes.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "filter/cli/lists/format.hpp"

namespace bloomgate::cli {

// The fields of a row. Nothing if its quotes are wrong. A line end after the row is left out.
std::optional<std::vector<std::string>> split_csv_row(std::string_view row);

class CsvFormat : public Format {
 public:
  // `column` is a number from 1, or a name in the first row of each list. Throws UsageError for 0.
  CsvFormat(const std::string& column, std::size_t input_count);

  bool quotes_line_ends() const noexcept override { return true; }
  // With a column's name, waits for the worker that has the first block of that list.
  void start_block(const Block& block, const std::string& name) override;
  ListLine read(const Block& block, std::string_view line, AddressProfile profile) const override;

 private:
  struct Input {
    std::promise<std::size_t> found;
    std::shared_future<std::size_t> column = found.get_future().share();  // from 0
  };

  std::size_t find_column(std::string_view header, const std::string& list) const;

  std::string name_;  // empty if the column has a number
  std::size_t number_ = 0;
  std::vector<Input> inputs_;
};

}  // namespace bloomgate::cli
