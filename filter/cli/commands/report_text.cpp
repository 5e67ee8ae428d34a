#include "filter/cli/commands/report_text.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "filter/cli/numbers.hpp"

namespace bloomgate::cli {

std::string entries_text(const FilterHeader& header) {
  std::string text = "entries   " + format_count(entries_of(header));
  if (header.domains != 0) text += "\ndomains   " + format_count(header.domains) + " of them, kept exactly";
  return text;
}

void print_report(const nlohmann::ordered_json& json) {
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace bloomgate::cli
