// How a subcommand reads its command line.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/base/usage_error.hpp"

// The options of all commands have values of these types: command_line.cpp has the code for them, once.
extern template class boost::program_options::typed_value<double>;
extern template class boost::program_options::typed_value<std::string>;
extern template class boost::program_options::typed_value<std::uint64_t>;
extern template class boost::program_options::typed_value<unsigned>;
extern template void boost::program_options::typed_value<std::vector<std::string>>::xparse(
    boost::any&, const std::vector<std::string>&) const;
extern template void boost::program_options::typed_value<std::vector<std::string>>::notify(const boost::any&) const;

namespace bloomgate::cli {

using Arguments = std::vector<std::string>;

// What `--help` of a subcommand prints round the list of its options.
struct HelpText {
  const char* synopsis;  // "bloomgate size --entries N [OPTION...]"
  const char* purpose;   // some sentences, in one line
  const char* examples;  // indented command lines
};

// The argument that makes a command list its options, for the completions of shells (scripts/make_completions.py): a
// line for each, with the words `option`, its long name, its letter, its value's name and its purpose between tabs. No
// help shows it.
inline constexpr const char* kListOptions = "--list-options";

// Parses `arguments`: the options of `visible`, and what stands beside options into `operands` (null: nothing may).
// Where `--help` is among them it prints the help and gives nothing, and with kListOptions alone it prints that list.
// Throws UsageError for what the options do not allow.
std::optional<boost::program_options::variables_map> parse_command_line(
    const Arguments& arguments, const boost::program_options::options_description& visible,
    std::vector<std::string>* operands, const HelpText& help);

// Messages call what a person can choose by the options of this program, from now on. Before there are other threads.
void use_names_of_options();

// Not by its default.
bool is_given(const boost::program_options::variables_map& values, const char* option);

// The option --json, which every command has: stored in `json` by the parser.
void add_json(bool& json, boost::program_options::options_description& options);
// The option --quiet of a command that makes something: it prints nothing when all goes well. Stored in `quiet`.
void add_quiet(bool& quiet, boost::program_options::options_description& options);
// Whether a command that has succeeded prints its result: with --quiet only as JSON.
constexpr bool shows_result(bool json, bool quiet) noexcept {
  return json || !quiet;
}
// Whether --json is among `arguments`, even where they cannot be parsed.
bool asks_for_json(const Arguments& arguments);

// The only operand of a command that takes one filter file. Throws UsageError for none or several.
const std::string& only_filter(const std::vector<std::string>& operands);

}  // namespace bloomgate::cli
