#include "config/given_options.hpp"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>

#include "config/list_commands.hpp"
#include "config/option_table.hpp"
#include "filter/base/error.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

namespace po = boost::program_options;

// Boost requires a name for the words that are not options. Nobody can type this one: a name ends at '='.
constexpr const char* kWords = "words=";

// The table in Boost's form. All values are strings here; they are converted later, where their position is known.
po::options_description description(bool for_file) {
  po::options_description options;
  for (const OptionSpec& spec : daemon_option_table()) {
    if (for_file && !spec.in_file) continue;
    po::value_semantic* const semantic =
        spec.argument.empty() ? static_cast<po::value_semantic*>(po::bool_switch()) : po::value<std::string>();
    options.add_options()(std::string(spec.name).c_str(), semantic, "");
  }
  return options;
}

void add_given(GivenOptions& given, const po::option& option, const ConfigPlace& place) {
  std::vector<GivenValue>& values = given[option.string_key];
  if (!values.empty() && !option_spec(option.string_key).repeatable) {
    const unsigned first_line = values.front().place.line;
    throw config_error(
        place, option.string_key,
        "given a second time" +
            (first_line == 0 ? std::string() : " (the first is in line " + std::to_string(first_line) + ")") +
            "; keep one of them");
  }
  values.push_back({option.value.empty() ? std::string() : option.value.front(), place});
}

std::vector<std::string> option_names(bool for_file) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : daemon_option_table()) {
    if (!for_file || spec.in_file) names.emplace_back(spec.name);
  }
  return names;
}

// Other programs remove quotes around a value. In this file quotes have no meaning.
void refuse_quotes(const std::string& name, const std::string& value, const ConfigPlace& place) {
  if (value.size() < 2 || value.front() != value.back() || (value.front() != '"' && value.front() != '\'')) return;
  throw config_error(
      place, name,
      "a value has no quotes around it; write " + name + " = " + printable(value.substr(1, value.size() - 2)));
}

// A line or a name that was not understood, for a message. What may be a key is omitted: it may be a secret one.
std::string shown(const std::string& text) {
  constexpr std::array<std::string_view, 2> kKeyOptions = {"trusted-key", "learned-from"};
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  for (const std::string_view option : kKeyOptions) {
    if (text.compare(begin, option.size(), option) == 0) return std::string(option) + " ...";
  }
  // No option name has so many characters. But the file of a secret key has, and may have been named instead of the
  // configuration.
  constexpr std::size_t kMostShown = 40;
  const std::size_t word = std::min(text.find_first_of(" \t=", begin), text.size()) - begin;
  if (word > kMostShown) return "...";
  constexpr std::size_t kMostOfLine = 80;
  return printable(text.substr(0, kMostOfLine)) + (text.size() > kMostOfLine ? "..." : "");
}

// The fault of a line that has no '='.
std::string no_assignment(const std::string& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t:", begin), line.size());
  const std::string name = line.substr(begin, end - begin);
  std::string text = "expected 'name = value', got '" + shown(line) + "'";
  if (name.starts_with('[')) return text + "; this file has no sections: leave the line out";
  const std::vector<std::string> names = option_names(true);
  return std::ranges::find(names, name) == names.end() ? text : text + "; put '=' behind " + name;
}

// Reads one line by itself, so that its number is known if it is invalid.
void read_config_line(GivenOptions& given, const std::string& line, const po::options_description& options,
                      const ConfigPlace& place) {
  try {
    std::istringstream stream(line);
    const auto parsed = po::parse_config_file(stream, options);
    for (const po::option& option : parsed.options) {
      refuse_quotes(option.string_key, option.value.empty() ? std::string() : option.value.front(), place);
      add_given(given, option, place);
    }
    const std::string content = line.substr(0, line.find('#'));
    if (parsed.options.empty() && content.find_first_not_of(" \t\r") != std::string::npos) {
      throw config_error(place, "", no_assignment(content));
    }
  } catch (const po::unknown_option& error) {
    const std::string& name = error.get_option_name();
    throw config_error(
        place, shown(name),
        "there is no such option" + nearest_word_hint(name, option_names(true)) + "; see bloomgate-milter.conf(5)");
  } catch (const po::error&) {
    throw config_error(place, "", no_assignment(line));
  }
}

// `--send` without a recipient means the recipient that every mail server has (RFC 5321 section 4.5.1).
std::vector<std::string> in_full(const std::vector<std::string>& arguments) {
  std::vector<std::string> whole;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const bool is_first = argument == arguments.begin();
    whole.push_back(is_first && *argument == "-V" ? "--version" : is_first && *argument == "-h" ? "--help" : *argument);
    const auto next = std::next(argument);
    if (*argument == "--send" && (next == arguments.end() || next->starts_with('-'))) whole.emplace_back("postmaster");
  }
  return whole;
}

// The options that are commands may be written without dashes: `bloomgate-milter doctor`. `reload` without a process
// means the unit's process.
void use_action_word(GivenCommandLine& given, const ConfigPlace& place) {
  if (given.words.empty() || std::ranges::find(kActionWords, given.words.front()) == kActionWords.end()) return;
  const std::string action = given.words.front();
  given.words.erase(given.words.begin());
  std::string value;
  if (action == kReloadWord) {
    value = kUnitsProcess;
    if (!given.words.empty()) {
      value = given.words.front();
      given.words.erase(given.words.begin());
    }
  }
  given.options[action].push_back({value, place});
}

}  // namespace

GivenCommandLine read_command_line(const std::vector<std::string>& arguments) {
  const ConfigPlace place;
  po::options_description options = description(false);
  options.add_options()(kWords, po::value<std::vector<std::string>>(), "");
  po::positional_options_description words;
  words.add(kWords, -1);
  GivenCommandLine given;
  if (const auto equals = std::ranges::find(arguments, "="); equals != arguments.end() && equals != arguments.begin()) {
    const std::string& before = *std::prev(equals);
    throw config_error(place, "",
                       "there are spaces around '='; write " + printable(before) + "=VALUE, or a space alone");
  }
  try {
    const auto parsed = po::command_line_parser(in_full(arguments))
                            .options(options)
                            .positional(words)
                            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                            .run();
    for (const po::option& option : parsed.options) {
      if (option.position_key < 0) {
        add_given(given.options, option, place);
      } else {
        given.words.insert(given.words.end(), option.value.begin(), option.value.end());
      }
    }
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    name = name.substr(0, name.find('='));
    name.erase(0, name.find_first_not_of('-'));
    throw config_error(
        place, "",
        printable(error.what()) +
            (find_list_command(name) != nullptr ? "; a command has no dashes: bloomgate-milter " + name + " ENTRY"
                                                : nearest_word_hint(name, option_names(false), "--")) +
            "; 'bloomgate-milter --help' lists the options");
  } catch (const po::error& error) {
    throw config_error(place, "", printable(error.what()) + "; 'bloomgate-milter --help' lists the options");
  }
  use_action_word(given, place);
  return given;
}

GivenOptions read_config_file(const std::string& path, ConfigFaults& faults) {
  errno = 0;
  std::ifstream file(path);
  const auto fail = [&path](const char* what) {
    const std::string why = errno == 0 ? "it is not a text file" : system_reason(ErrorCode::cannot_open, path, errno);
    throw config_error({path}, "",
                       std::string("the configuration file cannot be ") + what + ": " + why +
                           "; name another with --config, or use --config /dev/null to run on defaults");
  };
  if (!file) fail("opened");
  // A device may have no end.
  constexpr std::size_t kMostBytes = 1 << 20;
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) fail("read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    throw config_error({path}, "", "expected a configuration file, got more than 1 MiB; is it the right file?");
  }
  const po::options_description options = description(true);
  GivenOptions given;
  std::string_view rest = text;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (unsigned number = 1; !rest.empty(); ++number) {
    const std::string line(take_line(rest));
    faults.collect([&] { read_config_line(given, line, options, {path, number}); });
  }
  return given;
}

}  // namespace bloomgate
