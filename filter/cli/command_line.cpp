#include "filter/cli/command_line.hpp"

#include <algorithm>
#include <iostream>

template class boost::program_options::typed_value<double>;
template class boost::program_options::typed_value<std::string>;
template class boost::program_options::typed_value<std::uint64_t>;
template class boost::program_options::typed_value<unsigned>;
template void boost::program_options::typed_value<std::vector<std::string>>::xparse(
    boost::any&, const std::vector<std::string>&) const;
template void boost::program_options::typed_value<std::vector<std::string>>::notify(const boost::any&) const;

namespace bloomgate::cli {

namespace po = boost::program_options;

namespace {

void list_options(const po::options_description& options) {
  for (const auto& option : options.options()) {
    // "-o [ --output ]", or "--output"
    const std::string forms = option->format_name();
    const std::string letter = forms.at(1) == '-' ? "" : forms.substr(1, 1);
    const bool takes_value = option->semantic()->max_tokens() != 0;
    // "FILE", or "FILE (=default)"
    const std::string value = takes_value ? option->format_parameter() : "";
    std::string purpose = option->description();
    std::ranges::replace(purpose, '\n', ' ');
    std::cout << "option\t" << option->long_name() << '\t' << letter << '\t' << value.substr(0, value.find(" (="))
              << '\t' << purpose << '\n';
  }
}

}  // namespace

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
  if (arguments == Arguments{kListOptions}) {
    list_options(shown);
    return std::nullopt;
  }
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
