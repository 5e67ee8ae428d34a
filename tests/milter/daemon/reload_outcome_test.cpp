#include "milter/daemon/reload_outcome.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "filter/base/error.hpp"
#include "milter/daemon/supervisor.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

// Plays systemd, which gives a service its runtime folder.
struct RuntimeFolder {
  explicit RuntimeFolder(const std::string& folder) { setenv("RUNTIME_DIRECTORY", folder.c_str(), 1); }
  ~RuntimeFolder() { unsetenv("RUNTIME_DIRECTORY"); }
};

// Another process that does as the daemon: `play` runs in it for each SIGUSR1. It ends with the object, or when `play`
// returns false.
class Process {
 public:
  template <typename Play>
  explicit Process(Play play) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    id_ = fork();
    if (id_ == 0) {
      int received = 0;
      while (sigwait(&signals, &received) == 0 && play()) {
      }
      _exit(0);
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    // A dead child would still be a process until somebody asks for its exit status.
    signal(SIGCHLD, SIG_IGN);
  }
  ~Process() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    signal(SIGCHLD, SIG_DFL);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }

 private:
  pid_t id_ = -1;
};

TEST_CASE_METHOD(InFolder, "the outcome of a reload is read as it was written") {
  CHECK_FALSE(read_reload_outcome(folder.path()));
  const ReloadOutcome refused = {123'456'789'000, false, "reload refused: w.bloom: No such file or directory"};
  write_reload_outcome(folder.path(), refused);
  CHECK(read_reload_outcome(folder.path()) == refused);
  const ReloadOutcome accepted = {123'456'789'001, true, "serving w.bloom: 2 entries"};
  write_reload_outcome(folder.path(), accepted);
  CHECK(read_reload_outcome(folder.path()) == accepted);
}

TEST_CASE_METHOD(InFolder, "a text that is not an outcome of a reload counts as none") {
  for (const std::string text : {"", "1\n", "x\naccepted\nserving\n", "1\nperhaps\nserving\n", "1\naccepted"}) {
    INFO(text);
    write_file(folder.file("reload"), text);
    CHECK_FALSE(read_reload_outcome(folder.path()));
  }
}

TEST_CASE("an outcome that cannot be written is an error") {
  CHECK(error_code_of([] { write_reload_outcome("/nonexistent", {1, true, "serving"}); }) == ErrorCode::cannot_write);
}

TEST_CASE_METHOD(InFolder, "a request for a reload gets the outcome of a reload that began after it") {
  write_reload_outcome(folder.path(), {monotonic_microseconds(), true, "an earlier one"});
  const Process daemon([&] {
    // One that was under way when the signal came ends first.
    write_reload_outcome(folder.path(), {1, true, "an earlier one"});
    write_reload_outcome(folder.path(), {monotonic_microseconds(), false, "reload refused"});
    return true;
  });
  const ReloadOutcome outcome = request_reload(daemon.id(), folder.path());
  CHECK(outcome.text == "reload refused");
  CHECK_FALSE(outcome.accepted);
}

TEST_CASE_METHOD(InFolder, "a request for a reload fails with that reason if the daemon ends instead") {
  const Process daemon([] { return false; });
  CHECK(error_code_of([&] { request_reload(daemon.id(), folder.path()); }) == ErrorCode::library_failed);
}

TEST_CASE_METHOD(InFolder, "a process that is not there cannot be asked for a reload") {
  CHECK(error_code_of([&] { request_reload(1 << 22, folder.path()); }) == ErrorCode::not_permitted);
}

TEST_CASE_METHOD(InFolder, "a supervisor leaves the outcome of each reload in its runtime folder") {
  const RuntimeFolder runtime(folder.path().string() + ":/nonexistent");
  install_bus_fault_handler();
  const WhitelistFile file({"joe@example.org"});
  const MemoryLog log;
  ListSlot slot;
  Wakeup wakeup;
  const ResultsWatch results;
  DaemonOptions options = {};
  options.whitelists = {{"whitelist", file.path()}};
  Supervisor supervisor(options, slot, wakeup, results, log.logger());
  supervisor.load_first();
  const std::int64_t before = monotonic_microseconds();
  supervisor.reload();
  const auto accepted = read_reload_outcome(folder.path());
  REQUIRE(accepted);
  CHECK(accepted->accepted);
  CHECK(accepted->began_microseconds >= before);
  CHECK_THAT(accepted->text, StartsWith("serving " + file.path()));
  std::filesystem::remove(file.path());
  supervisor.reload();
  const auto refused = read_reload_outcome(folder.path());
  REQUIRE(refused);
  CHECK_FALSE(refused->accepted);
  CHECK_THAT(refused->text, StartsWith("reload refused: ") && Contains("; still serving "));
  const RuntimeFolder missing("/nonexistent");
  supervisor.reload();
  CHECK_THAT(log.text(), Contains("the outcome of the reload cannot be reported to the command reload: "));
}

}  // namespace
}  // namespace bloomgate::test
