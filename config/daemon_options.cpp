#include "config/daemon_options.hpp"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "config/option_table.hpp"
#include "config/printable.hpp"

namespace bloomgate {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kHostNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

// An option's value as it was given, and where.
struct Given {
  std::string text;
  ConfigPlace place;
};
using GivenOptions = std::map<std::string, Given, std::less<>>;

// The table as Boost wants it. All values are strings here: they are converted below, where their place is known.
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
  std::string text = option.value.empty() ? std::string() : option.value.front();
  const auto [existing, inserted] = given.try_emplace(option.string_key, Given{std::move(text), place});
  if (inserted) return;
  const unsigned first_line = existing->second.place.line;
  throw ConfigError(
      place, option.string_key,
      "given a second time" +
          (first_line == 0 ? std::string() : " (the first is in line " + std::to_string(first_line) + ")") +
          "; keep one of them");
}

GivenOptions read_command_line(const std::vector<std::string>& arguments) {
  const ConfigPlace place;
  const po::options_description options = description(false);
  const po::positional_options_description no_positional_arguments;
  GivenOptions given;
  try {
    const auto parsed = po::command_line_parser(arguments)
                            .options(options)
                            .positional(no_positional_arguments)
                            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                            .run();
    for (const po::option& option : parsed.options) add_given(given, option, place);
  } catch (const po::error& error) {
    throw ConfigError(place, "", printable(error.what()) + "; 'bloomgate-milter --help' lists the options");
  }
  return given;
}

// Reads one line, by itself, so that its number is known when it is wrong.
void read_config_line(GivenOptions& given, const std::string& line, const po::options_description& options,
                      const ConfigPlace& place) {
  try {
    std::istringstream stream(line);
    const auto parsed = po::parse_config_file(stream, options);
    for (const po::option& option : parsed.options) add_given(given, option, place);
    const std::string content = line.substr(0, line.find('#'));
    if (parsed.options.empty() && content.find_first_not_of(" \t\r") != std::string::npos) {
      throw ConfigError(place, "", "expected 'name = value', got '" + printable(content) + "'");
    }
  } catch (const po::unknown_option& error) {
    throw ConfigError(place, error.get_option_name(), "there is no such option; see bloomgate-milter.conf(5)");
  } catch (const po::error&) {
    throw ConfigError(place, "", "expected 'name = value', got '" + printable(line) + "'");
  }
}

GivenOptions read_config_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  const auto fail = [&path](const char* what) {
    const std::string why = errno == 0 ? "it is not a text file" : std::generic_category().message(errno);
    throw ConfigError({path}, "",
                      std::string("the configuration file cannot be ") + what + ": " + why +
                          "; name another with --config, or use --config /dev/null to run on defaults");
  };
  if (!file) fail("opened");
  const po::options_description options = description(true);
  GivenOptions given;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    read_config_line(given, line, options, {path, number});
  }
  if (file.bad()) fail("read");
  return given;
}

[[noreturn]] void reject(const OptionSpec& spec, const Given& given, std::string_view expected) {
  const std::string got = given.text.empty() ? "nothing" : "'" + printable(given.text) + "'";
  throw ConfigError(given.place, std::string(spec.name), "expected " + std::string(expected) + ", got " + got);
}

template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <typename Value, std::size_t size>
Value choose(const OptionSpec& spec, const Given& given, const std::array<Choice<Value>, size>& choices) {
  const auto* const choice = std::ranges::find(choices, given.text, &Choice<Value>::word);
  if (choice != choices.end()) return choice->value;
  std::string expected = "one of ";
  for (const Choice<Value>& each : choices) {
    if (&each != choices.data()) expected += ", ";
    expected += each.word;
  }
  reject(spec, given, expected);
}

void convert(const OptionSpec& spec, const Given& given, bool& out) {
  out = choose(spec, given, std::array{Choice<bool>{"yes", true}, Choice<bool>{"no", false}});
}

void convert(const OptionSpec& spec, const Given& given, Mode& out) {
  out = choose(spec, given, std::array{Choice<Mode>{"enforce", Mode::enforce}, Choice<Mode>{"observe", Mode::observe}});
}

void convert(const OptionSpec& spec, const Given& given, LogTarget& out) {
  out = choose(
      spec, given,
      std::array{Choice<LogTarget>{"stderr", LogTarget::standard_error}, Choice<LogTarget>{"syslog", LogTarget::syslog},
                 Choice<LogTarget>{"journal", LogTarget::journal}});
}

void convert(const OptionSpec& spec, const Given& given, LogLevel& out) {
  out = choose(spec, given,
               std::array{Choice<LogLevel>{"error", LogLevel::error}, Choice<LogLevel>{"warning", LogLevel::warning},
                          Choice<LogLevel>{"info", LogLevel::info}, Choice<LogLevel>{"debug", LogLevel::debug}});
}

void convert(const OptionSpec& spec, const Given& given, SocketAddress& out) {
  const auto address = parse_socket_address(given.text);
  if (!address) reject(spec, given, std::string(kSocketAddressForms) + " (as in inet:8891@127.0.0.1)");
  out = *address;
}

void convert(const OptionSpec& spec, const Given& given, mode_t& out) {
  unsigned mode = 0;
  const char* const begin = given.text.data();
  const char* const end = begin + given.text.size();
  const auto [stop, error] = std::from_chars(begin, end, mode, 8);
  if (error != std::errc() || stop != end || mode > 0777) reject(spec, given, "an octal mode from 0000 to 0777");
  out = mode;
}

void convert(const OptionSpec& spec, const Given& given, std::string& out) {
  if (spec.name == "whitelist" && given.text.empty()) reject(spec, given, "a path");
  if (spec.name == "host-name" && !given.text.empty() && !is_host_name(given.text)) reject(spec, given, "a host name");
  out = given.text;
}

// Takes each option from the command line, else from the file, else from the table.
class Merger {
 public:
  Merger(const GivenOptions& file, const GivenOptions& command_line) : sources_{&file, &command_line} {}

  template <typename Value>
  void set(std::string_view name, Value& out) const {
    const auto table = daemon_option_table();
    const OptionSpec& spec = *std::ranges::find(table, name, &OptionSpec::name);
    convert(spec, {std::string(spec.default_value), {}}, out);
    // What the command line overrides is converted too: a bad value in the file is to be seen now, not one day later.
    for (const GivenOptions* const source : sources_) {
      if (const auto found = source->find(name); found != source->end()) convert(spec, found->second, out);
    }
  }

 private:
  std::array<const GivenOptions*, 2> sources_;
};

DaemonOptions merged(const GivenOptions& file, const GivenOptions& command_line) {
  const Merger merger(file, command_line);
  DaemonOptions options = {};
  merger.set("socket", options.socket);
  merger.set("socket-mode", options.socket_mode);
  merger.set("socket-group", options.socket_group);
  merger.set("whitelist", options.whitelist);
  merger.set("allow-missing-whitelist", options.allow_missing_whitelist);
  merger.set("mode", options.mode);
  merger.set("host-name", options.host_name);
  merger.set("lock-memory", options.lock_memory);
  merger.set("log-target", options.log_target);
  merger.set("log-level", options.log_level);
  return options;
}

}  // namespace

DaemonCommand read_daemon_command(const std::vector<std::string>& arguments) {
  const GivenOptions command_line = read_command_line(arguments);
  DaemonCommand command;
  if (command_line.contains("help")) {
    command.action = DaemonCommand::Action::help;
    return command;
  }
  if (command_line.contains("version")) {
    command.action = DaemonCommand::Action::version;
    return command;
  }
  if (command_line.contains("check-config")) command.action = DaemonCommand::Action::check_config;
  Merger({}, command_line).set("config", command.config_path);
  command.options = merged(read_config_file(command.config_path), command_line);
  return command;
}

bool is_host_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 255 && name.find_first_not_of(kHostNameCharacters) == std::string_view::npos;
}

}  // namespace bloomgate
