#include "milter/dkim/child_verifier.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/dkim/socket_io.hpp"
#include "milter/dkim/verifier.hpp"
#include "milter/dkim/verifier_child.hpp"
#include "milter/dkim/wire.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SignatureOutcome;

constexpr std::chrono::seconds kLongestStart{10};
constexpr std::chrono::seconds kBetweenStarts{1};        // for a child that ends at once
constexpr std::chrono::milliseconds kBetweenLines{500};  // in the log, about name servers
constexpr std::size_t kMaxAnswerBytes = 4096;
constexpr std::size_t kMaxPieceBytes = std::size_t{1} << 16;

// Starts the program with its end of the control socket as descriptor 3, and without any other descriptor of ours:
// otherwise libmilter's sockets would stay open in the child.
pid_t start_program(const std::string& program, int control) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, control, kVerifierControl);
  posix_spawn_file_actions_addclosefrom_np(&actions, kVerifierControl + 1);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string name = "bloomgate-milter";
  std::string argument = kVerifierArgument;
  std::array<char*, 3> arguments = {name.data(), argument.data(), nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot start the verifier of signatures: " + std::generic_category().message(error));
  }
  return process;
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

// The child process, and the thread that starts it again.
class ChildVerifier::Child {
 public:
  Child(const Options& options, Reports reports)
      : program_(options.program),
        options_(wire::encode(wire::ChildOptions{options.rules, options.resolver})),
        reports_(std::move(reports)) {
    start();
    watcher_ = std::thread([this] { watch(); });
  }

  ~Child() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      if (process_ > 0) kill(process_, SIGKILL);
    }
    changed_.notify_all();
    watcher_.join();
  }

  // A connection to a thread of the child; not open if there is no child now. `process` becomes the child's process ID.
  FileDescriptor connect(pid_t& process) noexcept {
    auto [ours, theirs] = socket_pair(SOCK_STREAM);
    const std::lock_guard lock(mutex_);
    process = process_;
    if (!ours.is_open() || process_ <= 0 || !send_descriptor(control_.get(), theirs.get())) return FileDescriptor();
    return std::move(ours);
  }

  // Kills that process, if it is still the child.
  void give_up(pid_t process) noexcept {
    const std::lock_guard lock(mutex_);
    if (process > 0 && process == process_) kill(process_, SIGKILL);
  }

  pid_t process() const noexcept {
    const std::lock_guard lock(mutex_);
    return process_;
  }

  const Reports& reports() const noexcept { return reports_; }
  const std::string& description() const noexcept { return description_; }

 private:
  void start() {
    auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
    if (!ours.is_open()) throw BloomgateError(ErrorCode::no_system_resource, "cannot make a pair of sockets");
    const pid_t process = start_program(program_, theirs.get());
    theirs.reset();
    try {
      introduce(ours.get());
    } catch (...) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
      throw;
    }
    const std::lock_guard lock(mutex_);
    control_ = std::move(ours);
    process_ = process;
    if (is_ending_) kill(process_, SIGKILL);
  }

  // Sends the child its options, and receives whether it can work with them.
  void introduce(int control) {
    const timeval limit = {.tv_sec = kLongestStart.count(), .tv_usec = 0};
    setsockopt(control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::string text(kMaxAnswerBytes, '\0');
    const bool is_told =
        send(control, options_.data(), options_.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(options_.size());
    const ssize_t size = is_told ? recv(control, text.data(), text.size(), 0) : -1;
    if (size <= 0) throw BloomgateError(ErrorCode::library_failed, "the verifier of signatures does not start");
    text.resize(static_cast<std::size_t>(size));
    if (text.front() != '+') throw BloomgateError(ErrorCode::bad_configuration, text.substr(1));
    if (description_.empty()) description_ = text.substr(1);
  }

  // Reads what the child reports about its name servers, until it ends. Only this thread closes control_.
  void read_notes() noexcept {
    std::array<char, wire::kMaxNoteBytes> bytes;
    while (true) {
      const ssize_t size = recv(control_.get(), bytes.data(), bytes.size(), 0);
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size <= 0) return;
      try {
        const auto note = wire::decode_note({bytes.data(), static_cast<std::size_t>(size)});
        if (note && is_logged(pass_on(*note))) {
          // A child that an attacker has taken over must not fill the log.
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, kBetweenLines, [this] { return is_ending_; });
        }
      } catch (const std::exception&) {
        // No memory: the note is dropped.
      }
    }
  }

  static bool is_logged(wire::Note::Kind kind) noexcept { return kind != wire::Note::Kind::key; }

  wire::Note::Kind pass_on(const wire::Note& note) {
    using Kind = wire::Note::Kind;
    const ResolverReports& to = reports_.names;
    if (note.kind == Kind::servers && to.on_servers) to.on_servers(note.text);
    if (note.kind == Kind::key && to.on_key) to.on_key(note.status, note.took);
    if (note.kind == Kind::failing || note.kind == Kind::working) set_failing(note.kind == Kind::failing);
    return note.kind;
  }

  void set_failing(bool failing) {
    if (failing != std::exchange(are_servers_failing_, failing) && reports_.names.on_failing) {
      reports_.names.on_failing(failing);
    }
  }

  // Called when a child has ended: the next one finds the state of the servers by itself.
  void forget_servers() noexcept {
    try {
      set_failing(false);
    } catch (const std::exception&) {
      // It could not be reported.
    }
  }

  void watch() noexcept {
    while (true) {
      read_notes();
      siginfo_t information;
      while (waitid(P_PID, static_cast<id_t>(process()), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
      int status = 0;
      {
        // The process ID is not reused until here, so no other process can be killed instead.
        const std::lock_guard lock(mutex_);
        waitpid(process_, &status, 0);
        process_ = 0;
        control_.reset();
        if (is_ending_) return;
      }
      forget_servers();
      report([status] {
        return "the verifier of signatures " + end_of(status) +
               "; the messages in it are sent to the deeper checks, and it is started again";
      });
      while (!start_again()) {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, kBetweenStarts, [this] { return is_ending_; })) return;
      }
    }
  }

  bool start_again() noexcept {
    try {
      const Clock::time_point now = Clock::now();
      const bool is_too_soon = now - last_start_ < kBetweenStarts;
      if (is_too_soon) return false;
      last_start_ = now;
      start();
      failure_.clear();
      return true;
    } catch (const std::exception& error) {
      report_failure(error.what());
      return false;
    }
  }

  // The start is tried each second, and not every failure needs a log line.
  void report_failure(const char* why) noexcept {
    report([this, why] {
      if (failure_ == why) return std::string();
      failure_ = why;
      return "the verifier of signatures is not there, and it is tried again each second: " + failure_;
    });
  }

  // `text` makes the report; an empty text is not reported.
  template <typename Text>
  void report(Text text) const noexcept {
    try {
      const std::string what = text();
      if (reports_.on_fault && !what.empty()) reports_.on_fault(what);
    } catch (const std::exception&) {
      // It could not be reported.
    }
  }

  std::string program_;
  std::string options_;
  Reports reports_;
  std::string description_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FileDescriptor control_;
  pid_t process_ = 0;
  bool is_ending_ = false;
  Clock::time_point last_start_{};
  bool are_servers_failing_ = false;  // as the child reported last
  std::string failure_;               // why the last start failed
  std::thread watcher_;
};

class ChildVerifier::Message : public Verification {
 public:
  Message(ChildVerifier& verifier, SignatureChoice choice) : verifier_(verifier), choice_(std::move(choice)) {
    socket_ = verifier.child_->connect(process_);
    if (!socket_.is_open()) fail(Outcome::verifier_failed);
  }

  void begin(const VerifyRequest& request) { send(wire::Kind::begin, wire::encode(request)); }

  bool add_body(std::string_view bytes) noexcept override {
    body_bytes_ += bytes.size();
    if (body_bytes_ > verifier_.options_.rules.max_body_bytes) fail(Outcome::body_too_large);
    for (; !is_over() && !bytes.empty(); bytes.remove_prefix(std::min(kMaxPieceBytes, bytes.size()))) {
      send(wire::Kind::body, bytes.substr(0, kMaxPieceBytes));
    }
    return !is_over();
  }

  bool is_over() const noexcept override { return fault_.has_value(); }

  Signatures finish() noexcept override {
    try {
      if (!is_over()) send(wire::Kind::end, {});
      if (!is_over()) return receive();
    } catch (const std::exception&) {
      fail(Outcome::verifier_failed);
    }
    return {.all = {}, .fault = *fault_};
  }

 private:
  void fail(Outcome fault) noexcept {
    if (!fault_) fault_ = fault;
    socket_.reset();
  }

  void fail(SocketResult result) noexcept {
    // The child may hang, and other messages wait for it as well.
    if (result == SocketResult::timed_out) verifier_.child_->give_up(process_);
    fail(result == SocketResult::timed_out ? Outcome::verifier_timeout : Outcome::verifier_failed);
  }

  void send(wire::Kind kind, std::string_view bytes) noexcept {
    if (is_over()) return;
    try {
      const SocketResult result = send_part(socket_.get(), kind, bytes, Clock::now() + verifier_.options_.patience,
                                            verifier_.child_->reports().before_waiting);
      if (result != SocketResult::done) fail(result);
    } catch (const std::exception&) {
      fail(Outcome::verifier_failed);
    }
  }

  Signatures receive() {
    const Deadline deadline = Clock::now() + verifier_.options_.rules.dns_timeout + verifier_.options_.patience;
    SocketResult result = SocketResult::done;
    const std::optional<Part> part = receive_part(socket_.get(), deadline, result);
    const auto found = part && part->kind == wire::Kind::found ? wire::decode_signatures(part->bytes) : std::nullopt;
    // A child under an attacker's control must not say anything about other domains.
    if (found && choice_.allows(*found)) return *found;
    fail(part ? SocketResult::closed : result);
    return {.all = {}, .fault = *fault_};
  }

  ChildVerifier& verifier_;
  SignatureChoice choice_;
  pid_t process_ = 0;
  FileDescriptor socket_;
  std::optional<Outcome> fault_;
  std::uint64_t body_bytes_ = 0;
};

ChildVerifier::ChildVerifier(Options options, Reports reports)
    : options_(std::move(options)), child_(std::make_unique<Child>(options_, std::move(reports))) {}

ChildVerifier::~ChildVerifier() = default;

std::unique_ptr<Verification> ChildVerifier::begin(const VerifyRequest& request) {
  SignatureChoice choice = choose_signatures(request, options_.rules);
  if (choice.is_empty()) return std::make_unique<KnownOutcome>(std::move(choice).outcome());
  auto message = std::make_unique<Message>(*this, std::move(choice));
  message->begin(request);
  return message;
}

const std::string& ChildVerifier::description() const noexcept {
  return child_->description();
}

pid_t ChildVerifier::child() const noexcept {
  return child_->process();
}

}  // namespace bloomgate
