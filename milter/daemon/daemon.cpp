#include "milter/daemon/daemon.hpp"

#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "config/enum_words.hpp"
#include "config/restart_options.hpp"
#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "milter/daemon/monitoring_server.hpp"
#include "milter/daemon/sender_lookups.hpp"
#include "milter/daemon/served_options.hpp"
#include "milter/daemon/supervisor.hpp"
#include "milter/glue/milter_server.hpp"
#include "milter/glue/pool_waker.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/logger.hpp"
#include "milter/monitoring/service_status.hpp"
#include "milter/record/logging.hpp"

namespace bloomgate {
namespace {

// How long a stop waits for messages in progress, and then for libmilter to send its last answers: it does so after our
// callback has returned, and does not report when.
constexpr std::chrono::seconds kLongestFarewell{3};
constexpr std::chrono::milliseconds kLastAnswers{50};

// How much longer than its waits a message may take before it counts as hung: a busy machine is slow.
constexpr std::chrono::minutes kSlackOfMessage{2};

ConnectionWatch::Limits connection_limits(const DaemonOptions& options) {
  // A message waits for stores, for keys and for a checker, each for at most this time.
  const auto waits = options.confirm_timeout + options.dns_timeout + options.deep_check.timeout;
  return {.connections = options.max_connections,
          .timeout = options.connection_timeout,
          .longest_work = std::chrono::ceil<std::chrono::seconds>(waits) + kSlackOfMessage};
}

// Everything that libmilter's threads use. It lives until the process ends, as they do.
class Daemon {
 public:
  Daemon(std::vector<std::string> arguments, const DaemonCommand& command, JudgeRules rules,
         std::shared_ptr<spdlog::logger> log);

  // Returns the exit status.
  int serve();

 private:
  std::unique_ptr<Monitor> make_monitor(const DaemonCommand& command);
  DaemonCommand monitored(DaemonCommand command) const;
  ConnectionParts common_parts();
  void listen(const ListeningSocket& socket);
  void begin_to_serve();
  std::unique_ptr<MonitoringServer> begin_to_show();
  std::unique_ptr<SenderLookups> begin_to_answer();
  NewSettings read_settings();
  void show_sample_share() const noexcept;
  void say_farewell(std::chrono::steady_clock::time_point deadline);

  const std::vector<std::string> arguments_;
  const DaemonOptions started_with_;
  const std::shared_ptr<spdlog::logger> log_;
  Wakeup wakeup_;
  ListSlot slot_;
  ResultsWatch results_;
  MessagesInProgress in_progress_;
  Learner learner_;
  Brake brake_;
  const std::unique_ptr<Monitor> monitor_;  // null: there is no monitoring
  ConnectionWatch watch_;
  const PoolWaker waker_{watch_.connections()};
  const Record record_;
  Judge judge_;
  LearnedLookUps learned_look_ups_;
  ConnectionParts common_;  // the parts that no option changes
  std::shared_ptr<const ServedOptions> served_;
  PartsSlot parts_;
  Supervisor supervisor_;
  std::atomic<bool> libmilter_failed_{false};
};

Daemon::Daemon(std::vector<std::string> arguments, const DaemonCommand& command, JudgeRules rules,
               std::shared_ptr<spdlog::logger> log)
    : arguments_(std::move(arguments)),
      started_with_(command.options),
      log_(std::move(log)),
      learner_(learn_rules(started_with_), log_),
      brake_(brake_rules(started_with_), log_),
      monitor_(make_monitor(command)),
      watch_(connection_limits(started_with_), log_, monitor_ ? &monitor_->tally() : nullptr),
      record_(log_, monitor_.get()),
      judge_(rules, slot_, results_, record_,
             {.on_damage = [this] { wakeup_.post(Wakeup::kDamage); },
              .on_results = [this] { wakeup_.post(Wakeup::kResults); },
              .before_waiting = waker_.before_waiting()},
             &learner_, &brake_),
      learned_look_ups_(started_with_, log_),
      common_(common_parts()),
      supervisor_(started_with_, slot_, wakeup_, results_, log_, [this] { return read_settings(); }, monitor_.get()) {
  supervisor_.set_learning_fault([this] { return learner_.status().fault; });
}

std::unique_ptr<Monitor> Daemon::make_monitor(const DaemonCommand& command) {
  if (!command.options.metrics) return nullptr;
  auto made = std::make_unique<Monitor>(Monitor::Sources{.lists = slot_,
                                                         .results_missing = [this] { return results_.missing(); },
                                                         .learning = [this] { return learner_.status(); },
                                                         .brake = [this] { return brake_.status(); },
                                                         .lost_log_lines = [this] { return lost_lines(*log_); }});
  made->set_settings(monitored(command));
  return made;
}

// Shows the addresses on which it listens, whatever the file says by now.
DaemonCommand Daemon::monitored(DaemonCommand command) const {
  command.options.socket = started_with_.socket;
  command.options.metrics = started_with_.metrics;
  command.options.lookup_socket = started_with_.lookup_socket;
  return command;
}

ConnectionParts Daemon::common_parts() {
  ConnectionParts made;
  made.judge = &judge_;
  made.record = &record_;
  made.fallback_host = machine_name();
  made.before_waiting = waker_.before_waiting();
  made.in_progress = &in_progress_;
  made.monitor = monitor_.get();
  made.watch = &watch_;
  made.log = log_;
  return made;
}

int Daemon::serve() {
  log_->info("bloomgate-milter " BLOOMGATE_VERSION " starting, mode {}", word_of(started_with_.mode));
  supervisor_.load_first();
  auto socket =
      std::make_unique<ListeningSocket>(started_with_.socket, started_with_.socket_mode, started_with_.socket_group);
  route_signals(wakeup_);
  hold_signals();
  listen(*socket);
  learner_.start([this] { wakeup_.post(Wakeup::kLearning); });
  brake_.start();
  begin_to_serve();
  const auto shown = begin_to_show();
  auto answered = begin_to_answer();
  const MilterServer server(parts_, std::move(socket), watch_, [this](bool all_was_well) {
    libmilter_failed_ = !all_was_well;
    wakeup_.post(Wakeup::kMilterEnded);
  });
  log_->info("listening on {}", printable(to_string(started_with_.socket)));
  release_signals();
  const bool told_to_stop = supervisor_.run();

  log_->info("stopping");
  const auto deadline = std::chrono::steady_clock::now() + kLongestFarewell;
  // While mail is still served. If posted messages are not decided in time, their threads run until the process ends,
  // as libmilter's do.
  if (answered && !answered->finish_by(deadline)) static_cast<void>(answered.release());
  answered.reset();
  if (told_to_stop) say_farewell(deadline);
  if (served_->sampler) served_->sampler->stop();
  learner_.stop();
  brake_.stop();
  if (libmilter_failed_) log_->error("libmilter failed; its reason is in the system log");
  log_->info("stopped");
  return libmilter_failed_ ? EX_SOFTWARE : EX_OK;
}

void Daemon::listen(const ListeningSocket& socket) {
  const std::size_t wanted = started_with_.max_connections;
  if (const std::size_t room = make_room_for_connections(wanted); room < wanted) {
    log_->warn(
        "max-connections: there are too few descriptors for {} connections{}: raise their limit (LimitNOFILE= of the "
        "unit, ulimit -n), or lower max-connections",
        wanted, room == 0 ? "" : fmt::format(", and enough for {}", room));
  }
  watch_.set_on_quiet([this] { waker_.wake_forgotten(); });
  watch_.set_pulse(notify_alive);
  watch_.listen_on(socket.descriptor());
  watch_.start();
}

void Daemon::begin_to_serve() {
  served_ = make_served_options(started_with_, common_, nullptr);
  parts_.set(served_);
  show_sample_share();
}

// If this fails, the daemon serves mail without it, so that no mail server has to wait.
std::unique_ptr<MonitoringServer> Daemon::begin_to_show() {
  if (!started_with_.metrics) return nullptr;
  try {
    return std::make_unique<MonitoringServer>(started_with_, *monitor_, log_);
  } catch (const std::exception& error) {
    log_->error("metrics: nothing is shown: {}; mail is served all the same", printable(error.what()));
    return nullptr;
  }
}

// If this fails, the daemon serves mail without it.
std::unique_ptr<SenderLookups> Daemon::begin_to_answer() {
  if (!started_with_.lookup_socket) return nullptr;
  learned_look_ups_.set_options(started_with_);
  try {
    return std::make_unique<SenderLookups>(started_with_, judge_, learned_look_ups_, parts_, log_);
  } catch (const BloomgateError& error) {
    log_->error("lookup-socket: no look-up is answered: {}; mail is served all the same", printable(error.what()));
    return nullptr;
  }
}

// Reads the file as it is now, with the command line of this process.
NewSettings Daemon::read_settings() {
  const DaemonCommand command = read_daemon_command(arguments_);
  auto rules = std::make_shared<const JudgeRules>(judge_rules(command));
  auto next = make_served_options(command.options, common_, served_.get());
  NewSettings settings = {.options = command.options,
                          .put_into_use = nullptr,
                          .wait_for_restart = changed_restart_options(started_with_, command.options)};
  settings.put_into_use = [this, rules = std::move(rules), next = std::move(next),
                           in_force = monitored(command)]() mutable {
    set_log_level(*log_, next->options.log_level);
    parts_.set(next);
    judge_.set_rules(rules);
    learner_.set_rules(learn_rules(next->options));
    brake_.set_rules(brake_rules(next->options));
    watch_.set_limits(connection_limits(next->options));
    results_.begin_again();  // results that were missing may no longer be required
    served_ = next;
    show_sample_share();
    if (monitor_) monitor_->set_settings(std::move(in_force));
    log_->info("configuration loaded, mode {}", word_of(next->options.mode));
    learned_look_ups_.set_options(next->options);
  };
  return settings;
}

void Daemon::show_sample_share() const noexcept {
  if (monitor_) monitor_->tally().set_sample_share(served_->sampler ? served_->sampler->share() : 0);
}

// Lets the messages in progress finish. Mail is served as before meanwhile.
void Daemon::say_farewell(std::chrono::steady_clock::time_point deadline) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  const std::size_t cut_off = in_progress_.wait_for_none(std::max(rest, std::chrono::milliseconds(0)));
  if (cut_off != 0) log_->warn("{} being handled and cut off", format_counted(cut_off, "message was", "messages were"));
  std::this_thread::sleep_for(kLastAnswers);
}

}  // namespace

std::string machine_name() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0 || !is_host_name(name.data())) return "localhost";
  return name.data();
}

void run_daemon(const DaemonCommand& command, const std::vector<std::string>& arguments) {
  const DaemonOptions& options = command.options;
  JudgeRules rules = judge_rules(command);
  require_temporary_folder(options);
  const LogTarget target = usable_log_target(options.log_target);
  const auto log = make_logger(target, options.log_level);
  if (target != options.log_target)
    log->warn("log-target = syslog, but there is no /dev/log: this log is on standard error");
  // Never destroyed: see Daemon.
  static auto* const daemon = new Daemon(arguments, command, std::move(rules), log);
  try {
    const int status = daemon->serve();
    log->flush();
    // Without static destructors: session threads are still running.
    std::_Exit(status);
  } catch (const std::exception& error) {
    // Only for readers of the log; main() writes to standard error.
    if (target != LogTarget::standard_error) log->critical("{}", printable(error.what()));
    log->flush();
    throw;
  }
}

}  // namespace bloomgate
