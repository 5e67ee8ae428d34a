#include "filter/cli/command_line.hpp"

#include <iostream>

namespace bloomgate::cli {

namespace po = boost::program_options;

std::optional<po::variables_map> parse_command_line(const Arguments& arguments, const po::options_description& visible,
                                                    std::vector<std::string>* operands, const HelpText& help) {
  po::options_description shown;
  shown.add(visible).add_options()("help,h", "show this help");
  po::options_description all;
  all.add(shown);
  po::positional_options_description positional;
  if (operands != nullptr) {
    all.add_options()("operand", po::value(operands));
    positional.add("operand", -1);
  }
  // No abbreviations: an option added later must not change what an operator's script means.
  constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(kStyle).run(), values);
    if (values.count("help") != 0) {
      std::cout << "usage: " << help.synopsis << "\n\n"
                << help.purpose << "\n\n"
                << shown << "\nexamples:\n"
                << help.examples << '\n';
      return std::nullopt;
    }
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return values;
}

const std::string& only_filter(const std::vector<std::string>& operands) {
  if (operands.size() != 1) throw UsageError("name one filter file");
  return operands.front();
}

}  // namespace bloomgate::cli
