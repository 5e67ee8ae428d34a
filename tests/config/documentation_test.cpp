// Everything that names the daemon's options says the same as the table.
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "config/daemon_options.hpp"
#include "config/option_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

const std::string kSource = source_folder();

using Defaults = std::map<std::string, std::string>;

Defaults table_defaults(bool command_line_too) {
  Defaults defaults;
  for (const OptionSpec& spec : daemon_option_table()) {
    if (spec.in_file || command_line_too) defaults[std::string(spec.name)] = spec.default_value;
  }
  return defaults;
}

// Matches `item`, whose first group is an option's name, and then `default_value`, whose first group is its default,
// until the next item.
Defaults defaults_in(const std::string& text, const std::regex& item, const std::regex& default_value) {
  Defaults defaults;
  std::string* current = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, item)) current = &defaults[match[1]];
    if (current != nullptr && std::regex_search(line, match, default_value)) *current = match[1];
  }
  return defaults;
}

TEST_CASE("each option of the table is declared once") {
  CHECK(table_defaults(true).size() == daemon_option_table().size());
}

// The first line about an option in the shipped file, and the default there. If the file sets the option, the line
// before that has the default; else the last line has it.
using ShippedOption = std::pair<std::string, std::string>;

// Stops at the first text of another form, which fails the test.
std::vector<ShippedOption> shipped_options(const std::string& text) {
  std::vector<ShippedOption> options;
  const std::regex paragraph(
      "(# ([a-z0-9-]+): .*)\n(?:#.*\n)*?(?:#\\2 = ?(.*)\n|# Without this line: (.*)\\.\n\\2 = .*\n)\n?");
  auto rest = text.begin() + static_cast<std::ptrdiff_t>(text.find("\n\n") + 2);
  for (std::smatch match; std::regex_search(rest, text.end(), match, paragraph, std::regex_constants::match_continuous);
       rest = match[0].second) {
    const std::string of_set = match[4];
    options.emplace_back(match[1], of_set.empty() ? match[3].str() : of_set == "none" ? "" : of_set);
  }
  CHECK(std::string(rest, text.end()).empty());
  return options;
}

TEST_CASE("the shipped configuration file has the options in the order of the table, with summary, value and default") {
  std::vector<ShippedOption> wanted;
  for (const OptionSpec& spec : daemon_option_table()) {
    if (!spec.in_file) continue;
    wanted.emplace_back(
        "# " + std::string(spec.name) + ": " + std::string(spec.summary) + " (" + std::string(spec.argument) + ")",
        spec.default_value);
  }
  const std::string shipped = read_file(kSource + "/config/bloomgate-milter.conf");
  CHECK(shipped_options(shipped) == wanted);
  // All else is at its default.
  std::vector<std::string> set;
  std::istringstream lines(shipped);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') set.push_back(line);
  }
  CHECK(set == std::vector<std::string>{"allow-missing-whitelist = yes", "revoked = /etc/bloomgate/revoked.txt",
                                        "extra = /etc/bloomgate/extra.txt", "opt-out = /etc/bloomgate/opt-out.txt"});
}

TEST_CASE("the shipped configuration file is good, also with every line of it switched on") {
  const std::string shipped = read_file(kSource + "/config/bloomgate-milter.conf");
  const std::string switched_on = std::regex_replace(shipped, std::regex("\n#([a-z-]+ =)"), "\n$1");
  const auto count = std::count(switched_on.begin(), switched_on.end(), '=');
  CHECK(std::count(shipped.begin(), shipped.end(), '=') == count);
  const TemporaryFolder folder;
  for (const std::string& text : {shipped, switched_on}) {
    write_file(folder.file("test.conf"), text);
    const DaemonOptions options = read_daemon_command({"--config", folder.file("test.conf")}).options;
    CHECK(to_string(options.socket) == "unix:/run/bloomgate/milter.sock");
    CHECK(options.log_level == LogLevel::info);
  }
}

TEST_CASE("the shipped configuration file starts without a whitelist, and has all exact lists") {
  const DaemonOptions options = read_daemon_command({"--config", kSource + "/config/bloomgate-milter.conf"}).options;
  CHECK(options.allow_missing_whitelist);
  CHECK(options.revoked == "/etc/bloomgate/revoked.txt");
  CHECK(options.extra == "/etc/bloomgate/extra.txt");
  CHECK(options.opt_out == "/etc/bloomgate/opt-out.txt");
  for (const char* const name : {"revoked", "extra", "opt-out"}) {
    const std::string list = read_file(kSource + "/config/" + name + ".txt");
    CHECK(std::regex_match(list, std::regex("(#[^\n]*\n)+")));
  }
}

TEST_CASE("the help shows every option with its default") {
  const Defaults shown =
      defaults_in(daemon_help_text(), std::regex("^  --([a-z-]+)"), std::regex("\\(default: (.*)\\)$"));
  CHECK(shown == table_defaults(true));
}

TEST_CASE("the manual page of the configuration file explains every option with its default") {
  const std::string page = read_file(kSource + "/config/bloomgate-milter.conf.5");
  const Defaults shown = defaults_in(page, std::regex("^\\.It Cm ([a-z-]+)"), std::regex("^\\.Pq default: Ql (.*)$"));
  CHECK(shown == table_defaults(false));
}

// The commands that edit lists, as a text shows them.
std::set<std::string> commands_in(const std::string& text, const std::regex& item) {
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), item), end; found != end; ++found) {
    names.insert((*found)[1]);
  }
  return names;
}

TEST_CASE("the help and the manual page of the daemon name every command") {
  std::set<std::string> wanted;
  for (const ListCommandSpec& command : list_command_table()) wanted.emplace(command.name);
  CHECK(commands_in(daemon_help_text(), std::regex("\n  ([a-z-]+) ENTRY\\.\\.\\.\n")) == wanted);
  const std::string page = read_file(kSource + "/milter/bloomgate-milter.8");
  CHECK(commands_in(page, std::regex("\n\\.It Cm ([a-z-]+) Ar ENTRY \\.\\.\\.\n")) == wanted);
  const std::set<std::string> reading = {std::string(kWhyCommand)};
  CHECK(commands_in(daemon_help_text(), std::regex("\n  ([a-z-]+) QUEUE-ID\\|ADDRESS\n")) == reading);
  CHECK(commands_in(page, std::regex("\n\\.It Cm ([a-z-]+) Ar QUEUE-ID\\|ADDRESS\n")) == reading);
}

// bloomgate-milter.conf(5) explains the options of the file.
TEST_CASE("the manual page of the daemon names each option that the file cannot have, with its default, and no other") {
  Defaults wanted;
  for (const OptionSpec& spec : daemon_option_table()) {
    if (!spec.in_file) wanted[std::string(spec.name)] = spec.default_value;
  }
  const std::string page = read_file(kSource + "/milter/bloomgate-milter.8");
  const Defaults shown =
      defaults_in(page, std::regex("^\\.It Fl Fl ([a-z-]+)"), std::regex("^\\.Pq default: Ql (.*)$"));
  CHECK(shown == wanted);
}

TEST_CASE("help is about the command that is named, with or without dashes, and shows its options and no others") {
  const auto help_for = [](const std::vector<std::string>& words) { return read_daemon_command(words).help_for; };
  CHECK(help_for({"--help"}).empty());
  CHECK(help_for({"help"}).empty());
  CHECK(help_for({"help", "explain"}) == "explain");
  CHECK(help_for({"explain", "--help"}) == "explain");
  CHECK(help_for({"--doctor", "--help"}) == "doctor");
  CHECK(help_for({"revoke", "--help"}) == "revoke");
  CHECK_THAT(daemon_help_text("explain"), StartsWith("usage: bloomgate-milter explain [OPTION...] < MESSAGE\n") &&
                                              Contains("--header-from=VALUE") && Contains("--config=FILE") &&
                                              !Contains("--clamd") && !Contains("--socket"));
  CHECK_THAT(daemon_help_text("why"), Contains("--log=FILE") && Contains("--json") && !Contains("--header-from"));
  CHECK_THAT(daemon_help_text("reload"), !Contains("--json"));
  CHECK(daemon_help_text("no-such-command") == daemon_help_text());
}

TEST_CASE("an option of some commands is refused beside others, which the refusal names") {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--config", "/dev/null"});
    return std::string(error_of([&] { read_daemon_command(words); }).what());
  };
  CHECK_THAT(refused({"--json"}), Contains("--json: it belongs to the commands explain, doctor, why, add, remove, ") &&
                                      EndsWith("suspended and moved"));
  CHECK_THAT(refused({"check-config", "--json"}), Contains("--json: it belongs to the commands explain, doctor, "));
  CHECK_THAT(refused({"doctor", "--from", "joe@example.org"}), EndsWith("--from: it belongs to the command explain"));
  CHECK_THAT(refused({"explain", "--log", "mail.log"}), EndsWith("--log: it belongs to the commands doctor and why"));
}

}  // namespace
}  // namespace bloomgate::test
