#include "filter/cli/command_line.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <typeinfo>
#include <utility>

#include "filter/base/nearest_word.hpp"
#include "filter/cli/option_help.hpp"

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

constexpr const char* kOperand = "operand";
constexpr const char* kJson = "json";

void list_options(const po::options_description& options) {
  for (const auto& option : options.options()) {
    // "-o [ --output ]", or "--output"
    const std::string forms = option->format_name();
    const std::string letter = forms.at(1) == '-' ? "" : forms.substr(1, 1);
    std::string purpose = option->description();
    std::ranges::replace(purpose, '\n', ' ');
    std::cout << "option\t" << option->long_name() << '\t' << letter << '\t' << value_name(*option) << '\t' << purpose
              << '\n';
  }
}

constexpr std::string_view kDashes = "--";

std::vector<std::string> long_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back(option->long_name());
  return names;
}

// What is read as something else than its writer meant: '-output filter' as '-o utput' and an operand, '--memory = 8G'
// as the value '=' and an operand.
void refuse_misread(const Arguments& arguments, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != kDashes; ++i) {
    const std::string& word = arguments[i];
    if (word == "=" && i > 0 && arguments[i - 1].starts_with(kDashes)) {
      throw UsageError("there are spaces around '='; write " + arguments[i - 1] + "=VALUE, or a space alone");
    }
    if (!word.starts_with('-') || word.starts_with(kDashes)) continue;
    const std::string name = word.substr(1, word.find('=') - 1);
    if (name.size() > 1 && std::ranges::find(names, name) != names.end()) {
      throw UsageError("'-" + name + "' has one dash; write --" + name);
    }
  }
}

// The value of that name that was given last: the one to blame.
std::string given_value(const po::parsed_options& parsed, const std::string& name) {
  std::string value;
  for (const auto& option : parsed.options) {
    if (option.string_key == name && !option.value.empty()) value = option.value.back();
  }
  return value;
}

std::string wanted_value(const po::option_description& option) {
  const auto* const typed = dynamic_cast<const po::typed_value_base*>(option.semantic().get());
  if (typed == nullptr) return "another value";
  return typed->value_type() == typeid(double) ? "a number such as 8 or 9.5" : "a whole number";
}

// Old names of options, which mean the same and which no help shows.
constexpr std::array kOldNames = {std::pair{"--except", "leave-out"}, std::pair{"--not", "never-match"}};

// The present name of an option that is given by its old one, and its value if that is in the same word.
std::pair<std::string, std::string> present_name(const std::string& word, const std::vector<std::string>& names) {
  const std::size_t end = std::min(word.find('='), word.size());
  for (const auto& [old_name, name] : kOldNames) {
    if (word.substr(0, end) != old_name || std::ranges::find(names, name) == names.end()) continue;
    return {name, word.substr(std::min(end + 1, word.size()))};
  }
  return {};
}

// The options of the command line, in `values`. Throws po::error, and UsageError where it has more to say.
void store_options(const Arguments& arguments, const po::options_description& all, po::variables_map& values) {
  // No abbreviations: an option added later must not change what an operator's script means.
  constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const std::vector<std::string> names = long_names(all);
  refuse_misread(arguments, names);
  po::positional_options_description positional;
  positional.add(kOperand, -1);
  po::parsed_options parsed(&all);
  try {
    parsed = po::command_line_parser(arguments)
                 .options(all)
                 .positional(positional)
                 .style(kStyle)
                 .extra_parser([&](const std::string& word) { return present_name(word, names); })
                 .run();
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    name = name.substr(0, name.find('='));
    name.erase(0, name.find_first_not_of('-'));
    throw UsageError(error.what() + nearest_word_hint(name, names, kDashes));
  }
  try {
    po::store(parsed, values);
  } catch (const po::invalid_option_value& error) {
    const std::string name = error.get_option_name().substr(kDashes.size());
    throw UsageError(error.get_option_name() + " takes " + wanted_value(all.find(name, false)) + ", not '" +
                     given_value(parsed, name) + "'");
  }
}

}  // namespace

std::optional<po::variables_map> parse_command_line(const Arguments& arguments, const po::options_description& visible,
                                                    std::vector<std::string>* operands, const HelpText& help) {
  po::options_description shown;
  shown.add(visible).add_options()("help,h", "show this help");
  po::options_description all;
  all.add(shown);
  std::vector<std::string> none;
  std::vector<std::string>& taken = operands == nullptr ? none : *operands;
  all.add_options()(kOperand, po::value(&taken));
  if (arguments == Arguments{kListOptions}) {
    list_options(shown);
    return std::nullopt;
  }
  po::variables_map values;
  try {
    store_options(arguments, all, values);
    if (values.count("help") != 0) {
      std::cout << "usage: " << help.synopsis << "\n\n" << wrapped(help.purpose, 0, help_columns()) << "\n\noptions:\n";
      print_options(shown, help_columns(), std::cout);
      std::cout << "\nexamples:\n" << help.examples << '\n';
      return std::nullopt;
    }
    po::notify(values);
    if (!none.empty()) throw UsageError("'" + none.front() + "' belongs to no option");
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return values;
}

void use_names_of_options() {
  set_choice_names({.output = "--output",
                    .store = "--store",
                    .new_store = "--new-store",
                    .reject_file = "--reject-file",
                    .store_seed = "--store-seed",
                    .keep_case = "--keep-case",
                    .tag_separators = "--tag-separators",
                    .hash = "--hash",
                    .layout = "--layout",
                    .size_and_seed = "the same --expected-entries, --bits-per-entry, --hashes, --seed",
                    .strangers = "--never-match",
                    .stranger_query = "'bloomgate query --listed --list'",
                    .exceptions = "--leave-out",
                    .removals = "--remove",
                    .strict = "--strict",
                    .no_sender_domains = "--no-sender-domains",
                    .larger_bound = "a larger bound with --fpr",
                    .memory = "--memory",
                    .scratch = "--scratch",
                    .local_lists = "--local-lists",
                    .run = "--run",
                    .list_name = "--list-name"});
}

bool is_given(const po::variables_map& values, const char* option) {
  return values.count(option) != 0 && !values[option].defaulted();
}

void add_json(bool& json, po::options_description& options) {
  options.add_options()(kJson, po::bool_switch(&json), "print the result as JSON, for scripts");
}

void add_quiet(bool& quiet, po::options_description& options) {
  options.add_options()("quiet", po::bool_switch(&quiet),
                        "print nothing when all goes well; warnings and bad lines are still shown");
}

bool asks_for_json(const Arguments& arguments) {
  const auto options_end = std::ranges::find(arguments, kDashes);
  return std::find(arguments.begin(), options_end, std::string(kDashes) + kJson) != options_end;
}

const std::string& only_filter(const std::vector<std::string>& operands) {
  if (operands.size() != 1) throw UsageError("name one filter file");
  return operands.front();
}

}  // namespace bloomgate::cli
