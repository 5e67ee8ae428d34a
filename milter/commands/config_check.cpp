#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "config/config_error.hpp"
#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "milter/commands/commands.hpp"
#include "milter/daemon/served_options.hpp"
#include "milter/glue/listening_socket.hpp"
#include "milter/health/file_facts.hpp"
#include "milter/health/rules.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/learned_elsewhere.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/published_lists.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/lookup/bearer_token.hpp"
#include "milter/lookup/learned_answers.hpp"
#include "milter/serving/local_socket.hpp"

namespace bloomgate {
namespace {

std::vector<NamedFilter> show_whitelist(const WhitelistSource& source, std::ostream& out) {
  std::vector<NamedFilter> filters = load_whitelist_files(source, false, FilterCheck::header);
  for (const NamedFilter& each : filters) {
    const LoadedFilter& whitelist = *each.filter;
    out << "whitelist " << printable(whitelist.path()) << ": "
        << format_counted(entries_of(whitelist.header()), "entry", "entries")
        << "; its header is good (the daemon checks the rest when it loads the file)\n";
    if (whitelist.store() == nullptr) continue;
    out << "confirm " << printable(source.store) << ": the store of this whitelist; its header and index are good\n";
  }
  return filters;
}

void show_exact_list(const NamedExactList& list, const ReadList& read, std::ostream& out) {
  for (const ReadList::Text& text : read.texts) {
    const bool is_first = &text == &read.texts.front();
    out << list.name << ' ' << printable(text.path) << ": " << text.entries << (is_first ? "" : " more")
        << word_for(text.entries, " entry\n", " entries\n");
  }
}

// Refuses what the daemon would refuse at its start. Returns how many whitelists are missing, which is allowed.
std::size_t show_lists(const DaemonOptions& options, std::ostream& out) {
  std::vector<NamedFilter> whitelists;
  std::size_t missing = 0;
  for (const WhitelistSource& source : options.whitelists) {
    try {
      std::ranges::move(show_whitelist(source, out), std::back_inserter(whitelists));
    } catch (const BloomgateError& error) {
      if (!options.allow_missing_whitelist) throw;
      ++missing;
      out << "whitelist " << printable(source.path)
          << ": missing, which allow-missing-whitelist allows: " << printable(error.what()) << '\n';
    }
  }
  for (const NamedExactList& each : kExactLists) {
    try {
      if (const auto read = read_configured_list(options, each, whitelists)) show_exact_list(each, *read, out);
    } catch (const BloomgateError& error) {
      if (!is_awaited(options, each, whitelists)) throw;
      out << each.name << ": it comes with a whitelist that is allowed to be missing, and until both are there the "
          << "daemon delivers no message by it: " << printable(error.what()) << '\n';
    }
  }
  return missing;
}

// Whether the daemon starts, and with which whitelists.
std::string verdict_on(const DaemonOptions& options, std::size_t missing, bool needs_action) {
  const std::size_t all = options.whitelists.size();
  std::string text = !needs_action && missing == 0 ? "good" : "the daemon can start with it";
  if (missing != 0) {
    text += missing == all ? ", but has no whitelist yet: until it has one, it lists senders only by its other lists"
                           : fmt::format(", but with {} of its {} whitelists only", all - missing, all);
  }
  return needs_action ? text + "; what needs action is below" : text;
}

// What other hosts have learned.
void show_heard(const DaemonOptions& options, std::ostream& out) {
  LearnedElsewhere elsewhere(std::make_shared<spdlog::logger>("check"), LearnedElsewhere::Taken::is_not_remembered);
  elsewhere.look_once(learn_rules(options).elsewhere);
  for (const HeardStatus& each : elsewhere.status()) {
    out << "learned-from " << printable(each.folder) << ": ";
    if (each.fault.empty()) {
      out << format_counted(each.pairs, "pair", "pairs") << '\n';
    } else {
      out << "nothing is known of that host: " << printable(each.fault) << '\n';
    }
  }
}

// What stands in the way of the sockets and of the folder of the deeper check.
std::vector<ConfigError> faults_of_places(const DaemonCommand& command) {
  const DaemonOptions& options = command.options;
  std::vector<ConfigError> faults;
  const auto look_at = [&](const std::string& option, const auto& require) {
    try {
      require();
    } catch (const BloomgateError& error) {
      const std::string place = command.config_path + ": " + (option.empty() ? "" : option + ": ");
      faults.emplace_back(error.code(), place + error.what(), ConfigPlace{command.config_path});
    }
  };
  look_at("", [&] { require_temporary_folder(options); });
  look_at("socket", [&] { require_place_for_socket(options.socket, options.socket_group); });
  look_at("lookup-socket", [&] {
    if (options.lookup_socket) require_place_for_socket(*options.lookup_socket, options.socket_group);
  });
  look_at("lookup-token", [&] {
    if (!options.lookup_token.empty()) BearerToken::read_from(options.lookup_token);
  });
  look_at("metrics", [&] {
    if (options.metrics) require_place_for_socket(*options.metrics, {});
  });
  return faults;
}

}  // namespace

void check_config(const DaemonCommand& command, std::ostream& out) {
  const DaemonOptions& options = command.options;
  judge_rules(command);
  const std::vector<HealthFinding> findings = findings_of(facts_of_files(command));
  const auto show_findings = [&] {
    for (const HealthFinding& each : findings) out << text_of(each);
  };
  if (const std::vector<ConfigError> faults = faults_of_places(command); !faults.empty()) {
    show_findings();
    throw ConfigErrors(faults);
  }
  std::ostringstream lists;
  std::size_t missing = 0;
  try {
    missing = show_lists(options, lists);
    show_heard(options, lists);
  } catch (const BloomgateError&) {
    show_findings();
    throw;
  }
  out << "configuration " << printable(command.config_path) << ": " << verdict_on(options, missing, !findings.empty())
      << '\n'
      << lists.str();
  for (const DeepCheckServer& server : options.deep_check.servers) {
    out << "deep-check " << printable(to_string(server))
        << (options.mode == Mode::observe ? ": not asked while the mode is observe\n" : "\n");
  }
  const std::string look_ups_of_learned =
      options.lookup_socket ? learned_answers_text(*options.lookup_socket, options) : "";
  for (const std::string& text : {who_teaches_text(options), look_ups_of_learned}) {
    if (!text.empty()) out << text << '\n';
  }
  show_findings();
}

}  // namespace bloomgate
