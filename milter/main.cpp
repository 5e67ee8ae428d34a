// The daemon bloomgate-milter: puts the parts together and reports what goes wrong at the start. See
// bloomgate-milter(8).
#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "config/daemon_options.hpp"
#include "config/option_table.hpp"
#include "config/restart_options.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/bus_fault.hpp"
#include "milter/commands/config_check.hpp"
#include "milter/commands/explain_command.hpp"
#include "milter/commands/list_command.hpp"
#include "milter/commands/why_command.hpp"
#include "milter/daemon/machine_name.hpp"
#include "milter/daemon/reload_outcome.hpp"
#include "milter/daemon/served_options.hpp"
#include "milter/daemon/supervisor.hpp"
#include "milter/dkim/verifier_child.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/glue/milter_server.hpp"
#include "milter/glue/pool_waker.hpp"
#include "milter/health/alerts.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lookup/learned_answers.hpp"
#include "milter/lookup/lookup_server.hpp"
#include "milter/monitoring/pages.hpp"
#include "milter/monitoring/service_status.hpp"
#include "milter/record/logging.hpp"
#include "milter/serving/local_socket.hpp"

namespace {

using namespace bloomgate;

// How long a stop waits for messages that are under way, and then for libmilter to send its last answers: it does so
// after our callback has returned, and there is no way to know when.
constexpr std::chrono::seconds kLongestFarewell{3};
constexpr std::chrono::milliseconds kLastAnswers{50};

// Until a message that takes longer than it may wait counts as hung: a busy machine is slow.
constexpr std::chrono::minutes kSlackOfMessage{2};

std::string_view mode_name(Mode mode) noexcept {
  return mode == Mode::enforce ? "enforce" : "observe";
}

// A faulty configuration is refused here, where the file and the line can be told, and the daemon is not asked.
int reload(const DaemonCommand& command) {
  judge_rules(command);
  require_temporary_folder(command.options);
  const std::string folder = runtime_folder();
  if (folder.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "--reload: expected the daemon's folder in RUNTIME_DIRECTORY, which systemd sets; use "
                         "'systemctl reload bloomgate-milter'");
  }
  const ReloadOutcome outcome = request_reload(command.reload_process, folder);
  (outcome.accepted ? std::cout : std::cerr) << printable(outcome.text) << '\n';
  return outcome.accepted ? EX_OK : EX_DATAERR;
}

int doctor(const DaemonCommand& command) {
  judge_rules(command);
  const std::vector<DoctorFinding> findings = examine(command);
  std::cout << (command.doctor.json ? findings_json(findings) + "\n" : findings_text(findings));
  return doctor_exit_status(findings);
}

// Everything that libmilter's threads use. It lives until the process ends, as they do.
struct Daemon {
  Daemon(std::vector<std::string> words, const DaemonCommand& command, const JudgeRules& rules,
         std::shared_ptr<spdlog::logger> logger)
      : arguments(std::move(words)),
        started_with(command.options),
        log(std::move(logger)),
        learner(learn_rules(started_with), log),
        monitor(make_monitor(command)),
        watch(connection_limits(started_with), log, monitor ? &monitor->tally() : nullptr),
        record(log, monitor.get()),
        judge(rules, slot, results, record,
              {.on_damage = [this] { wakeup.post(Wakeup::kDamage); },
               .on_results = [this] { wakeup.post(Wakeup::kResults); },
               .before_waiting = waker.before_waiting()},
              &learner),
        common(common_parts()),
        supervisor(
            list_sources(started_with, rules.policy), slot, wakeup, results, log, [this] { return read_settings(); },
            monitor.get()) {
    supervisor.set_learning_fault([this] { return learner.status().fault; });
  }

  std::unique_ptr<Monitor> make_monitor(const DaemonCommand& command) {
    if (!command.options.metrics) return nullptr;
    auto made = std::make_unique<Monitor>(Monitor::Sources{.lists = slot,
                                                           .results_missing = [this] { return results.missing(); },
                                                           .learning = [this] { return learner.status(); },
                                                           .lost_log_lines = [this] { return lost_lines(*log); }});
    made->set_settings(monitored_settings(command));
    return made;
  }

  // Its addresses are those that it listens on, whatever the file says since.
  MonitoredSettings monitored_settings(const DaemonCommand& command) const {
    MonitoredSettings settings = {command.config_path, command.options, command.given};
    settings.options.socket = started_with.socket;
    settings.options.metrics = started_with.metrics;
    settings.options.lookup_socket = started_with.lookup_socket;
    return settings;
  }

  static ListSources list_sources(const DaemonOptions& options, const Policy& policy) {
    return {options.whitelists,
            options.revoked,
            options.extra,
            options.opt_out,
            options.lock_memory,
            options.allow_missing_whitelist,
            options.allow_shrunken_whitelist,
            options.recheck_bytes_per_hour,
            policy.identity};
  }

  static ConnectionWatch::Limits connection_limits(const DaemonOptions& options) {
    // A message waits for stores, for keys and for a checker, and for each at most so long.
    const auto waits = options.confirm_timeout + options.dns_timeout + options.deep_check.timeout;
    return {.connections = options.max_connections,
            .timeout = options.connection_timeout,
            .longest_work = std::chrono::ceil<std::chrono::seconds>(waits) + kSlackOfMessage};
  }

  ConnectionParts common_parts() {
    ConnectionParts made;
    made.watch = &watch;
    made.judge = &judge;
    made.record = &record;
    made.before_waiting = waker.before_waiting();
    made.in_progress = &in_progress;
    made.monitor = monitor.get();
    made.log = log;
    made.fallback_host = machine_name();
    return made;
  }

  void begin_to_serve() {
    served = make_served_options(started_with, common, nullptr);
    parts.set(parts_of(served));
    show_sample_share();
  }

  void show_sample_share() const noexcept {
    if (monitor) monitor->tally().set_sample_share(served->sampler ? served->sampler->share() : 0);
  }

  // As this process was told to at its start, from the file as it is now.
  NewSettings read_settings() {
    const DaemonCommand command = read_daemon_command(arguments);
    auto rules = std::make_shared<const JudgeRules>(judge_rules(command));
    auto next = make_served_options(command.options, common, served.get());
    NewSettings settings = {.sources = list_sources(command.options, rules->policy),
                            .put_into_use = nullptr,
                            .wait_for_restart = changed_restart_options(started_with, command.options)};
    settings.put_into_use = [this, rules = std::move(rules), next = std::move(next),
                             monitored = monitored_settings(command)]() mutable {
      set_log_level(*log, next->options.log_level);
      parts.set(parts_of(next));
      judge.set_rules(rules);
      learner.set_rules(learn_rules(next->options));
      watch.set_limits(connection_limits(next->options));
      results.begin_again();  // what was missing may be asked for no more
      served = next;
      show_sample_share();
      if (monitor) monitor->set_settings(std::move(monitored));
      log->info("configuration loaded, mode {}", mode_name(next->options.mode));
      use_look_up_rules(next->options);
    };
    return settings;
  }

  void use_look_up_rules(const DaemonOptions& options) {
    if (!started_with.lookup_socket) return;
    answers_for_learned = bloomgate::answers_for_learned(*started_with.lookup_socket, options);
    std::string text = look_ups_of_learned(started_with, options);
    if (!text.empty() && text != told_of_learned) log->info("{}", text);
    told_of_learned = std::move(text);
  }

  const std::vector<std::string> arguments;
  const DaemonOptions started_with;
  std::shared_ptr<spdlog::logger> log;
  Wakeup wakeup;
  ListSlot slot;
  ResultsWatch results;
  MessagesInProgress in_progress;
  Learner learner;
  const std::unique_ptr<Monitor> monitor;  // null: nobody watches
  ConnectionWatch watch;
  const PoolWaker waker{watch.connections()};
  const Record record;
  Judge judge;
  ConnectionParts common;  // what no option changes
  std::shared_ptr<const ServedOptions> served;
  PartsSlot parts;
  Supervisor supervisor;
  std::atomic<bool> answers_for_learned{false};  // at the socket for look-ups
  std::string told_of_learned;                   // the log's last line about that
  std::atomic<bool> libmilter_failed{false};
};

// Lets the messages that are under way come to their end. Mail is served as before meanwhile.
void say_farewell(Daemon& daemon) {
  const std::size_t cut_off = daemon.in_progress.wait_for_none(kLongestFarewell);
  if (cut_off != 0) daemon.log->warn("{} messages were being handled and are cut off", cut_off);
  std::this_thread::sleep_for(kLastAnswers);
}

// Shows what the daemon does to those who ask at the address of the option `metrics`.
class MonitoringServer {
 public:
  MonitoringServer(Daemon& daemon, const SocketAddress& address)
      : socket_(address, kMode, ""),
        server_(socket_.descriptor(),
                {.reply = replies(*daemon.monitor, is_local_socket(socket_.descriptor())),
                 .tick = [monitor = daemon.monitor.get()] { monitor->end_second(); },
                 .interval = std::chrono::seconds(1),
                 .on_fault =
                     [log = daemon.log](const std::string& what) { log_error(*log, "metrics: " + printable(what)); }}) {
    daemon.log->info("figures and status page at {}", printable(to_string(address)));
    if (is_local_socket(socket_.descriptor())) return;
    daemon.log->warn(
        "metrics: {} can be reached from other machines: who reaches it may read how much mail comes and how it is "
        "decided, so let a firewall say who may, or use 127.0.0.1; the last decisions are not shown there",
        printable(to_string(address)));
  }

 private:
  static constexpr mode_t kMode = 0660;  // of a unix socket: for the daemon's group

  static std::function<HttpAnswer(const HttpRequest&)> replies(const Monitor& monitor, bool is_local) {
    return [&monitor, is_local](const HttpRequest& request) { return page(monitor, request, is_local); };
  }

  ListeningSocket socket_;
  HttpServer server_;
};

// Mail goes on without it, so that it keeps no mail server waiting.
std::unique_ptr<MonitoringServer> begin_to_show(Daemon& daemon, const DaemonOptions& options) {
  if (!options.metrics) return nullptr;
  try {
    return std::make_unique<MonitoringServer>(daemon, *options.metrics);
  } catch (const BloomgateError& error) {
    daemon.log->error("metrics: nothing is shown: {}; mail is served all the same", printable(error.what()));
    return nullptr;
  }
}

// Answers other programs at the address of the option `lookup-socket`.
class SenderLookups {
 public:
  SenderLookups(Daemon& daemon, const DaemonOptions& options)
      : socket_(*options.lookup_socket, options.socket_mode, options.socket_group),
        server_(socket_.descriptor(),
                {.answer = [&daemon](const SenderQuestion& question,
                                     auto deadline) { return standing(daemon, question, deadline); },
                 .on_fault = [log = daemon.log](
                                 const std::string& what) { log_error(*log, "lookup-socket: " + printable(what)); }}) {
    const std::string address = printable(to_string(*options.lookup_socket));
    daemon.log->info("look-ups of senders at {}", address);
    if (is_local_socket(socket_.descriptor())) return;
    daemon.log->warn(
        "lookup-socket: {} can be reached from other machines: who reaches it may ask for any address whether it is "
        "listed, so let a firewall say who may, or use 127.0.0.1",
        address);
  }

 private:
  static SenderStanding standing(const Daemon& daemon, const SenderQuestion& question,
                                 std::chrono::steady_clock::time_point deadline) {
    const auto ask_learned = daemon.answers_for_learned ? Judge::AskLearned::yes : Judge::AskLearned::no;
    const Decision decision = daemon.judge.look_up(question.sender, question.recipient, deadline, ask_learned);
    if (decision.verdict == Verdict::deliver) return SenderStanding::listed;
    return decision.reason == Reason::revoked ? SenderStanding::revoked : SenderStanding::neither;
  }

  ListeningSocket socket_;
  LookupServer server_;
};

// Mail goes on without it, too.
std::unique_ptr<SenderLookups> begin_to_answer(Daemon& daemon, const DaemonOptions& options) {
  if (!options.lookup_socket) return nullptr;
  daemon.use_look_up_rules(options);
  try {
    return std::make_unique<SenderLookups>(daemon, options);
  } catch (const BloomgateError& error) {
    daemon.log->error("lookup-socket: nobody is answered: {}; mail is served all the same", printable(error.what()));
    return nullptr;
  }
}

int serve(Daemon& daemon, const DaemonOptions& options) {
  daemon.log->info("bloomgate-milter " BLOOMGATE_VERSION " starting, mode {}", mode_name(options.mode));
  daemon.supervisor.load_first();
  auto socket = std::make_unique<ListeningSocket>(options.socket, options.socket_mode, options.socket_group);
  route_signals(daemon.wakeup);
  hold_signals();
  if (const std::size_t room = make_room_for_connections(options.max_connections); room < options.max_connections) {
    daemon.log->warn(
        "max-connections: there are too few descriptors for {} connections{}: raise their limit (LimitNOFILE= of the "
        "unit, ulimit -n), or lower max-connections",
        options.max_connections, room == 0 ? "" : fmt::format(", and enough for {}", room));
  }
  daemon.watch.set_on_quiet([&daemon] { daemon.waker.wake_forgotten(); });
  daemon.watch.set_pulse(notify_alive);
  daemon.watch.listen_on(socket->descriptor());
  daemon.watch.start();
  daemon.learner.start([&daemon] { daemon.wakeup.post(Wakeup::kLearning); });
  daemon.begin_to_serve();
  const auto shown = begin_to_show(daemon, options);
  const auto answered = begin_to_answer(daemon, options);
  const MilterServer server(daemon.parts, std::move(socket), daemon.watch, [&daemon](bool all_was_well) {
    daemon.libmilter_failed = !all_was_well;
    daemon.wakeup.post(Wakeup::kMilterEnded);
  });
  daemon.log->info("listening on {}", printable(to_string(options.socket)));
  release_signals();
  const bool told_to_stop = daemon.supervisor.run();

  daemon.log->info("stopping");
  if (told_to_stop) say_farewell(daemon);
  if (daemon.served->sampler) daemon.served->sampler->stop();
  daemon.learner.stop();
  if (daemon.libmilter_failed) daemon.log->error("libmilter failed; its reason is in the system log");
  daemon.log->info("stopped");
  return daemon.libmilter_failed ? EX_SOFTWARE : EX_OK;
}

int run(const DaemonCommand& command, const std::vector<std::string>& arguments) {
  const DaemonOptions& options = command.options;
  const JudgeRules rules = judge_rules(command);
  require_temporary_folder(options);
  const LogTarget target = usable_log_target(options.log_target);
  const auto log = make_logger(target, options.log_level);
  if (target != options.log_target)
    log->warn("log-target = syslog, but there is no /dev/log: this log is on standard error");
  // Never destroyed: see Daemon.
  static auto* const daemon = new Daemon(arguments, command, rules, log);
  try {
    const int status = serve(*daemon, options);
    log->flush();
    // Without static destructors: session threads are still running.
    std::_Exit(status);
  } catch (const std::exception& error) {
    // For those who read the log only; main() tells standard error.
    if (target != LogTarget::standard_error) log->critical("{}", printable(error.what()));
    log->flush();
    throw;
  }
}

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments.front() == kListOptions) {
    std::cout << daemon_option_list();
    return EX_OK;
  }
  if (arguments.size() == 1 && arguments.front() == kListAlerts) {
    std::cout << alerts_text();
    return EX_OK;
  }
  const DaemonCommand command = read_daemon_command(arguments);
  switch (command.action) {
    case DaemonCommand::Action::help:
      std::cout << daemon_help_text();
      return EX_OK;
    case DaemonCommand::Action::version:
      std::cout << "bloomgate-milter " BLOOMGATE_VERSION "\n";
      return EX_OK;
    case DaemonCommand::Action::check_config:
      check_config(command, std::cout);
      return EX_OK;
    case DaemonCommand::Action::reload:
      return reload(command);
    case DaemonCommand::Action::doctor:
      return doctor(command);
    case DaemonCommand::Action::edit_list:
      return edit_list(command, std::cout);
    case DaemonCommand::Action::explain:
      explain(command, isatty(STDIN_FILENO) != 0 ? nullptr : &std::cin, std::cout);
      return EX_OK;
    case DaemonCommand::Action::why:
      return why(command, std::cin, std::cout);
    case DaemonCommand::Action::run:
      break;
  }
  return run(command, arguments);
}

int fail(int exit_status, const char* what) {
  std::cerr << "bloomgate-milter: " << printable(what) << '\n';
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kVerifierArgument) return run_verifier_child();
  // Until the daemon listens, a reload request would end it; it can wait.
  sigset_t reload_signal;
  sigemptyset(&reload_signal);
  sigaddset(&reload_signal, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &reload_signal, nullptr);
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  // A temporary file that may not grow further (LimitFSIZE= of the unit) is an error of the write.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  try {
    install_bus_fault_handler();
    return run_command({argv + std::min(argc, 1), argv + argc});
  } catch (const ConfigErrors& errors) {
    for (const std::string& each : errors.texts()) fail(EX_OK, each.c_str());
    return exit_status(errors.code());
  } catch (const BloomgateError& error) {
    return fail(exit_status(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(EX_OSERR, "out of memory");
  } catch (const std::exception& error) {
    return fail(EX_SOFTWARE, error.what());
  }
}
