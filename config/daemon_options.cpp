#include "config/daemon_options.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "config/given_options.hpp"
#include "config/list_commands.hpp"
#include "config/option_table.hpp"
#include "config/option_values.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kHostNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

// Takes each option from the command line, else from the file, else from the table.
class Merger {
 public:
  // `faults`: where what is wrong is collected; null: it is thrown.
  Merger(const GivenOptions& file, const GivenOptions& command_line, ConfigFaults* faults = nullptr)
      : sources_{&file, &command_line}, faults_(faults) {}

  template <typename Value>
  void set(std::string_view name, Value& out) const {
    const OptionSpec& spec = option_spec(name);
    out = converted<Value>(spec, {{std::string(spec.default_value), {}}});
    // Values that the command line overrides are converted too, so that a bad value in the file shows now and not one
    // day later.
    for (const GivenOptions* const source : sources_) {
      if (const auto found = source->find(name); found != source->end()) {
        collect([&] { out = converted<Value>(spec, found->second); });
      }
    }
  }

  // For an option without a default.
  template <typename Value>
  void set(std::string_view name, std::optional<Value>& out) const {
    for (const GivenOptions* const source : sources_) {
      const auto found = source->find(name);
      if (found != source->end()) collect([&] { out = converted<Value>(option_spec(name), found->second); });
    }
  }

  // What fits together only with other options.
  void collect(const std::function<void()>& part) const {
    if (faults_ == nullptr) return part();
    faults_->collect(part);
  }

 private:
  template <typename Value>
  static Value converted(const OptionSpec& spec, const std::vector<GivenValue>& values) {
    Value value = {};
    for (const GivenValue& given : values) convert(spec, given, value);
    return value;
  }

  std::array<const GivenOptions*, 2> sources_;
  ConfigFaults* faults_;
};

void set_sample(const Merger& merger, DeepCheckOptions& options) {
  Percentage sample;
  merger.set("deep-check-sample", sample);
  if (sample.share != 0 && options.servers.empty()) {
    throw config_error(sample.place, "deep-check-sample",
                       "there is no checker to show delivered messages to: name one with deep-check, or leave this "
                       "option out");
  }
  options.sample_share = sample.share;
}

void set_deep_check(const Merger& merger, DeepCheckOptions& options) {
  ByteSize max_size, memory;
  merger.set("deep-check", options.servers);
  merger.set("deep-check-timeout", options.timeout);
  merger.set("deep-check-connections", options.connections);
  merger.set("deep-check-max-size", max_size);
  merger.set("deep-check-memory", memory);
  merger.set("deep-check-folder", options.temporary_folder);
  merger.set("deep-check-spam", options.on_spam);
  merger.set("deep-check-reject", options.on_reject);
  merger.set("deep-check-soft-reject", options.on_soft_reject);
  merger.set("deep-check-failure", options.on_failure);
  options.max_bytes = max_size.bytes;
  options.memory_bytes = memory.bytes;
  merger.collect([&] { set_sample(merger, options); });
}

std::string names_of(const std::vector<WhitelistSource>& whitelists) {
  std::string names;
  for (const WhitelistSource& each : whitelists) names.append(names.empty() ? "" : ", ").append(each.name);
  return names;
}

// The whitelist that the store is for: the one that it names, or the only one.
WhitelistSource& whitelist_of(const StoreSource& store, std::vector<WhitelistSource>& whitelists) {
  if (store.whitelist.empty() && whitelists.size() == 1) return whitelists.front();
  if (store.whitelist.empty()) {
    throw config_error(store.place, "confirm",
                       "expected NAME=FILE with the name of one of the whitelists (" + names_of(whitelists) +
                           "), got '" + printable(store.path) + "'");
  }
  const auto found = std::ranges::find(whitelists, store.whitelist, &WhitelistSource::name);
  if (found != whitelists.end()) return *found;
  throw config_error(store.place, "confirm",
                     "expected the name of a whitelist (" + names_of(whitelists) + "), got '" + store.whitelist + "'");
}

void set_stores(const Merger& merger, std::vector<WhitelistSource>& whitelists) {
  std::vector<StoreSource> stores;
  merger.set("confirm", stores);
  for (const StoreSource& store : stores) {
    WhitelistSource& whitelist = whitelist_of(store, whitelists);
    if (!whitelist.store.empty()) {
      throw config_error(store.place, "confirm",
                         "the whitelist '" + whitelist.name + "' has the store " + printable(whitelist.store) +
                             " already: keep one of the two");
    }
    whitelist.store = store.path;
  }
}

// Without them nobody knows who is a user.
void require_own_domains(const DaemonOptions& options, const std::string& config_path) {
  if (options.learn == DaemonOptions::Learn::none || !options.own_domains.empty()) return;
  throw config_error(
      {config_path}, "learn",
      "it needs your own domains in own-domains, since only their users are learned from: name them, too");
}

void require_exempt_networks(const DaemonOptions& options, const std::string& config_path) {
  if (!options.learn_from_exempt || !options.exempt_networks.empty()) return;
  throw config_error({config_path}, "learn-from-exempt",
                     "it needs the clients to learn from in exempt-networks: name them, too, or remove this option");
}

void require_learn_key(const DaemonOptions& options, const std::string& config_path) {
  if (options.learned_from.empty() || !options.learn_key.empty()) return;
  throw config_error(
      {config_path}, "learned-from",
      "it needs the key that the hosts have in common in learn-key, to look up what they share: name its "
      "file, too");
}

// Every process of the machine reaches an address of TCP.
void require_lookup_token(const DaemonOptions& options, const std::string& config_path) {
  if (options.lookup_messages == 0) return;
  if (!options.lookup_socket) {
    throw config_error({config_path}, "lookup-messages",
                       "it needs a lookup-socket, where programs ask: name that, too");
  }
  if (options.lookup_socket->family == SocketAddress::Family::unix_path || !options.lookup_token.empty()) return;
  throw config_error(
      {config_path}, "lookup-messages",
      "expected a file in lookup-token, since lookup-socket is an address of TCP, got none: name one, or "
      "use a unix socket, whose mode says who may ask");
}

// If two servers had one address, the second one would get no request.
void require_different_addresses(const DaemonOptions& options, const std::string& config_path) {
  const auto refuse = [&](const char* option, const char* other) {
    throw config_error({config_path}, option, std::string("it has the address of '") + other + "': give each its own");
  };
  if (options.metrics == options.socket) refuse("metrics", "socket");
  if (options.lookup_socket == options.socket) refuse("lookup-socket", "socket");
  if (options.lookup_socket && options.lookup_socket == options.metrics) refuse("lookup-socket", "metrics");
}

DaemonOptions merged(const Merger& merger) {
  DaemonOptions options = {};
  ByteSize recheck_rate;
  merger.set("socket", options.socket);
  merger.set("socket-mode", options.socket_mode);
  merger.set("socket-group", options.socket_group);
  merger.set("max-connections", options.max_connections);
  std::size_t connection_timeout = 0;
  merger.set("connection-timeout", connection_timeout);
  options.connection_timeout = std::chrono::seconds(connection_timeout);
  merger.set("whitelist", options.whitelists);
  merger.collect([&] { set_stores(merger, options.whitelists); });
  TrustedKeys trusted_keys;
  merger.set("trusted-key", trusted_keys);
  std::string taken_manifests;
  merger.set("taken-manifests", taken_manifests);
  std::chrono::days overdue_for{};
  merger.set("use-overdue-for", overdue_for);
  for (WhitelistSource& whitelist : options.whitelists) {
    if (trusted_keys.empty()) break;
    whitelist.trusted_keys = trusted_keys;
    whitelist.taken_manifests = taken_manifests;
    whitelist.overdue_for = overdue_for;
  }
  std::vector<LearnedFrom> learned_from;
  merger.set("learned-from", learned_from);
  for (LearnedFrom& host : learned_from) {
    options.learned_from.push_back({.name = host.folder,
                                    .path = host.folder,
                                    .trusted_keys = std::move(host.keys),
                                    .taken_manifests = taken_manifests,
                                    .overdue_for = overdue_for});
  }
  merger.set("learn-key", options.learn_key);
  merger.set("confirm-timeout", options.confirm_timeout);
  merger.set("allow-missing-whitelist", options.allow_missing_whitelist);
  merger.set("allow-shrunken-whitelist", options.allow_shrunken_whitelist);
  merger.set("revoked", options.revoked);
  merger.set("extra", options.extra);
  merger.set("opt-out", options.opt_out);
  merger.set("recipient-delimiter", options.recipient_delimiter);
  merger.set("identity", options.identity);
  merger.set("authentication", options.authentication);
  merger.set("alignment", options.alignment);
  merger.set("spf-proves", options.spf_proves);
  merger.set("trusted-authserv-id", options.trusted_authserv_ids);
  merger.set("trusted-fields", options.trusted_fields);
  merger.set("verify-dkim", options.verify_dkim);
  merger.set("require-oversigned", options.require_oversigned);
  merger.set("require-signed", options.require_signed);
  merger.set("max-signature-age", options.max_signature_age);
  merger.set("dns-servers", options.dns_servers);
  merger.set("dns-timeout", options.dns_timeout);
  merger.set("dns-trust-anchor", options.dns_trust_anchor);
  merger.set("dmarc-fail-veto", options.dmarc_fail_veto);
  merger.set("trust-arc", options.trust_arc);
  merger.set("own-domains", options.own_domains);
  merger.set("trusted-forwarders", options.trusted_forwarders);
  merger.set("undo-batv", options.undo_batv);
  merger.set("exempt-networks", options.exempt_networks);
  merger.set("exempt-authenticated", options.exempt_authenticated);
  merger.set("exempt-daemons", options.exempt_daemons);
  merger.set("exempt-action", options.exempt_action);
  merger.set("learn", options.learn);
  merger.set("learn-file", options.learn_file);
  merger.set("learn-keep", options.learn_keep);
  merger.set("learn-max-recipients", options.learn_max_recipients);
  merger.set("learn-rate", options.learn_rate);
  merger.set("learn-from-exempt", options.learn_from_exempt);
  merger.set("learn-exempt-rate", options.learn_exempt_rate);
  merger.set("burst-limit", options.burst_limit);
  merger.set("burst-recipients", options.burst_recipients);
  merger.set("burst-observe", options.burst_observe);
  merger.set("burst-file", options.burst_file);
  merger.set("suspend", options.suspend);
  merger.set("suspend-file", options.suspend_file);
  set_deep_check(merger, options.deep_check);
  merger.set("mode", options.mode);
  merger.set("mark-tells-why", options.mark_tells_why);
  merger.set("host-name", options.host_name);
  merger.set("lock-memory", options.lock_memory);
  merger.set("recheck-rate", recheck_rate);
  options.recheck_bytes_per_hour = recheck_rate.bytes;
  merger.set("log-target", options.log_target);
  merger.set("log-level", options.log_level);
  merger.set("history-file", options.history_file);
  OptionalAddress metrics;
  merger.set("metrics", metrics);
  options.metrics = metrics.socket;
  OptionalAddress lookup_socket;
  merger.set("lookup-socket", lookup_socket);
  options.lookup_socket = lookup_socket.socket;
  merger.set("lookup-learned-over-tcp", options.lookup_learned_over_tcp);
  merger.set("lookup-messages", options.lookup_messages);
  merger.set("lookup-token", options.lookup_token);
  return options;
}

constexpr std::string_view kActions[] = {"check-config", "reload", "explain", "doctor"};

ExplainOptions explain_options(const GivenOptions& command_line) {
  const GivenOptions no_file;
  const Merger merger(no_file, command_line);
  ExplainOptions explain;
  merger.set("from", explain.from);
  if (command_line.contains("to")) merger.set("to", explain.to);
  if (command_line.contains("header-from")) merger.set("header-from", explain.header_from);
  if (command_line.contains("authentication-results")) {
    merger.set("authentication-results", explain.authentication_results);
  }
  merger.set("client", explain.client);
  merger.set("auth-login", explain.auth_login);
  merger.set("daemon-name", explain.daemon_name);
  merger.set("mta-name", explain.mta_name);
  explain.json = command_line.contains("json");
  return explain;
}

DoctorOptions doctor_options(const GivenOptions& command_line) {
  const GivenOptions no_file;
  const Merger merger(no_file, command_line);
  DoctorOptions doctor;
  merger.set("postfix-config", doctor.postfix_config);
  merger.set("sendmail-config", doctor.sendmail_config);
  merger.set("clamd", doctor.clamd);
  if (command_line.contains("fingerprint")) merger.set("fingerprint", doctor.fingerprints);
  merger.set("send", doctor.send);
  merger.set("signed-message", doctor.signed_message);
  merger.set("smtp", doctor.smtp);
  if (command_line.contains("log")) merger.set("log", doctor.logs);
  doctor.json = command_line.contains("json");
  return doctor;
}

// What to do with a word that is no command.
std::string word_hint(const std::string& word, const GivenOptions& command_line) {
  constexpr std::array<std::string_view, 4> kOfSystemd = {"start", "stop", "restart", "status"};
  if (std::ranges::find(kOfSystemd, word) != kOfSystemd.end()) {
    return "; systemd does that: systemctl " + word + " bloomgate-milter";
  }
  if (command_line.contains("explain")) return "; explain reads the message from standard input: < FILE";
  if (word.find('/') != std::string::npos || word.ends_with(".conf")) {
    return "; --config FILE names the configuration file";
  }
  return nearest_word_hint(word, daemon_command_names());
}

// Of what no message can be found.
void require_subject(const std::string& subject) {
  const bool is_blank = subject.find_first_not_of(" \t") == std::string::npos;
  if (!is_blank && !subject.ends_with('@') && !subject.ends_with("@>")) return;
  throw config_error({}, "",
                     "why: expected a queue ID, an address or @domain, got " + quoted(std::string_view(subject)));
}

// `why QUEUE-ID`, or `why ADDRESS`.
std::optional<WhyCommand> why_command(const GivenCommandLine& given) {
  if (given.words.empty() || given.words.front() != kWhyCommand) return std::nullopt;
  if (given.words.size() != 2) {
    throw config_error({}, "", "why: name one queue ID, address or @domain: bloomgate-milter why QUEUE-ID");
  }
  require_subject(given.words.back());
  const GivenOptions no_file;
  WhyCommand command = {.subject = given.words.back(), .logs = {}, .json = given.options.contains("json")};
  if (given.options.contains("log")) Merger(no_file, given.options).set("log", command.logs);
  return command;
}

// `suspended list`, or `suspended add|clear ENTRY...`.
std::optional<SuspendedCommand> suspended_command(const GivenCommandLine& given) {
  if (given.words.empty() || given.words.front() != kSuspendedCommand) return std::nullopt;
  SuspendedCommand command = {.json = given.options.contains("json")};
  const auto& words = kWordsOf<SuspendedCommand::Action>;
  const auto action = given.words.size() < 2 ? words.end() : std::ranges::find(words, std::string_view(given.words[1]));
  if (action == words.end()) {
    throw config_error({}, "",
                       "suspended: expected list, add ENTRY... or clear ENTRY..." +
                           nearest_word_hint(given.words.size() < 2 ? "" : given.words[1], words));
  }
  command.action = static_cast<SuspendedCommand::Action>(action - words.begin());
  command.entries.assign(given.words.begin() + 2, given.words.end());
  const bool is_list = command.action == SuspendedCommand::Action::list;
  if (is_list && !command.entries.empty())
    throw config_error({}, "", "suspended list: it shows all, and takes no entry");
  if (!is_list && command.entries.empty()) {
    throw config_error({}, "", "suspended " + given.words[1] + ": name at least one address, @domain or mailing list");
  }
  return command;
}

// `moved junk USER`, or `moved inbox USER`.
std::optional<MovedCommand> moved_command(const GivenCommandLine& given) {
  if (given.words.empty() || given.words.front() != kMovedCommand) return std::nullopt;
  const auto& words = kWordsOf<MovedCommand::Where>;
  const auto where = given.words.size() != 3 ? words.end() : std::ranges::find(words, std::string_view(given.words[1]));
  if (where == words.end()) {
    throw config_error({}, "",
                       "moved: expected junk USER or inbox USER, and the message on standard input" +
                           nearest_word_hint(given.words.size() < 2 ? "" : given.words[1], words));
  }
  return MovedCommand{.where = static_cast<MovedCommand::Where>(where - words.begin()),
                      .user = given.words[2],
                      .json = given.options.contains("json")};
}

// The words of the command line that are no options are a command with its entries, or there are none.
std::optional<ListCommand> list_command(const GivenCommandLine& given) {
  if (given.words.empty()) return std::nullopt;
  const std::string& name = given.words.front();
  ListCommand command;
  command.spec = find_list_command(name);
  if (command.spec == nullptr) {
    throw config_error({}, "",
                       "expected an option or a command, got '" + printable(name) + "'" +
                           word_hint(name, given.options) + "; 'bloomgate-milter --help' lists both");
  }
  command.entries.assign(given.words.begin() + 1, given.words.end());
  if (command.entries.empty()) {
    throw config_error({}, "", name + ": name at least one address, @domain or @.domain");
  }
  command.json = given.options.contains("json");
  return command;
}

pid_t reload_process(const GivenOptions& command_line) {
  std::string text;
  Merger({}, command_line).set("reload", text);
  if (text == kUnitsProcess) return 0;
  std::optional<std::size_t> process;
  Merger({}, command_line).set("reload", process);
  return static_cast<pid_t>(process.value());
}

void refuse_actions(const GivenOptions& command_line) {
  for (const std::string_view name : kActions) {
    if (command_line.contains(name)) {
      throw config_error({}, std::string(name), "it belongs to a call without a command");
    }
  }
}

// The command that the line gives, with or without dashes; empty for the daemon.
std::string_view command_of(const GivenCommandLine& given) {
  if (!given.words.empty()) return given.words.front();
  const auto* const action =
      std::ranges::find_if(kActions, [&given](std::string_view name) { return given.options.contains(name); });
  return action == std::end(kActions) ? std::string_view() : *action;
}

void refuse_options_of_other_commands(const GivenCommandLine& given) {
  for (const OptionSpec& option : daemon_option_table()) {
    if (option.commands.empty() || !given.options.contains(option.name)) continue;
    if (belongs_to(option, command_of(given))) continue;
    throw config_error({}, std::string(option.name), "it belongs to " + commands_of(option));
  }
}

// From the file and the command line.
void read_options(const GivenOptions& command_line, DaemonCommand& command) {
  ConfigFaults faults;
  const GivenOptions file = read_config_file(command.config_path, faults);
  command.options = merged(Merger(file, command_line, &faults));
  for (const GivenOptions* const source : {&file, &command_line}) {
    for (const auto& [name, values] : *source) command.given.insert(name);
  }
  for (const auto require : {require_own_domains, require_exempt_networks, require_learn_key, require_lookup_token,
                             require_different_addresses}) {
    faults.collect([&] { require(command.options, command.config_path); });
  }
  faults.throw_if_any();
}

}  // namespace

DaemonCommand read_daemon_command(const std::vector<std::string>& arguments) {
  using Action = DaemonCommand::Action;
  const GivenCommandLine given = read_command_line(arguments);
  const GivenOptions& command_line = given.options;
  DaemonCommand command;
  if (command_line.contains("help")) {
    command.action = Action::help;
    command.help_for = command_of(given);
    return command;
  }
  if (command_line.contains("version")) {
    command.action = Action::version;
    return command;
  }
  if (auto why = why_command(given)) {
    command.action = Action::why;
    command.why = *std::move(why);
  } else if (auto suspended = suspended_command(given)) {
    command.action = Action::suspended;
    command.suspended = *std::move(suspended);
  } else if (auto moved = moved_command(given)) {
    command.action = Action::moved;
    command.moved = *std::move(moved);
  } else if (auto list = list_command(given)) {
    command.action = Action::edit_list;
    command.list = *std::move(list);
  }
  if (!given.words.empty()) refuse_actions(command_line);
  if (command_line.contains("check-config")) command.action = Action::check_config;
  if (command_line.contains("reload")) {
    command.action = Action::reload;
    command.reload_process = reload_process(command_line);
  }
  if (command_line.contains("explain")) {
    command.action = Action::explain;
    command.explain = explain_options(command_line);
  }
  if (command_line.contains("doctor")) {
    command.action = Action::doctor;
    command.doctor = doctor_options(command_line);
  }
  refuse_options_of_other_commands(given);
  Merger({}, command_line).set("config", command.config_path);
  try {
    read_options(command_line, command);
  } catch (const BloomgateError& error) {
    // The log can be searched without it.
    if (command.action != Action::why) throw;
    command.why.config_fault = error.what();
  }
  return command;
}

bool is_host_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 255 && name.find_first_not_of(kHostNameCharacters) == std::string_view::npos;
}

}  // namespace bloomgate
