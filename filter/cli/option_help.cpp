#include "filter/cli/option_help.hpp"

#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "filter/cli/progress.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kDefault = " (=";    // before the default value in Boost's name of a value
constexpr std::string_view kImplicit = "(=";    // before the value that counts where none is given
constexpr std::size_t kMostBeforePurpose = 30;  // columns

std::string forms_of(const po::option_description& option) {
  // "-o [ --output ]", or "--output"
  const std::string boost_forms = option.format_name();
  const std::string letter = boost_forms.at(1) == '-' ? "    " : boost_forms.substr(0, 2) + ", ";
  const std::string value = value_name(option);
  return "  " + letter + "--" + option.long_name() + (value.empty() || value.starts_with('[') ? "" : " ") + value;
}

// With the default, unless the sentence names it in its own words.
std::string purpose_of(const po::option_description& option) {
  std::string purpose = option.description();
  const std::string value = option.format_parameter();
  const std::size_t start = value.find(kDefault);
  if (start != std::string::npos && purpose.find("(default:") == std::string::npos) {
    purpose += " (default: " + value.substr(start + kDefault.size());
  }
  return purpose;
}

}  // namespace

std::string value_name(const po::option_description& option) {
  if (option.semantic()->max_tokens() == 0) return {};
  std::string name = option.format_parameter();
  if (name.starts_with('[')) return name.substr(0, name.find(kImplicit)) + ']';
  return name.substr(0, name.find(kDefault));
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (column != indent && column + 1 + word.size() >= columns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column != indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return lines;
}

void print_options(const po::options_description& options, std::size_t columns, std::ostream& out) {
  std::size_t before = 0;
  for (const auto& option : options.options()) before = std::max(before, forms_of(*option).size() + 2);
  before = std::min(before, kMostBeforePurpose);
  for (const auto& option : options.options()) {
    const std::string forms = forms_of(*option);
    out << forms;
    out << (forms.size() + 2 <= before ? std::string(before - forms.size(), ' ') : '\n' + std::string(before, ' '));
    out << wrapped(purpose_of(*option), before, columns) << '\n';
  }
}

std::size_t help_columns() noexcept {
  constexpr std::size_t kLeast = 60;
  constexpr std::size_t kMost = 120;
  return std::clamp(terminal_columns(STDOUT_FILENO), kLeast, kMost);
}

}  // namespace bloomgate::cli
