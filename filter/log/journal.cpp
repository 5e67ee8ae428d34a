#include "filter/log/journal.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

constexpr const char* kRemedy = "; name log files instead, such as /var/log/mail.log";
constexpr const char* kMayRead =
    "; there may be no journal, or none that this user may read, as root and the group systemd-journal may";

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_ = {};
};

}  // namespace

Journal::Journal(const std::vector<std::string>& part) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error(ErrorCode::no_system_resource, "make a pipe", "", errno);
  output_.reset(ends[0]);
  const FileDescriptor input(ends[1]);
  std::vector<std::string> texts = {"journalctl", "--output=short-iso", "--no-pager", "--quiet"};
  texts.insert(texts.end(), part.begin(), part.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), input.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (const int error = posix_spawnp(&process_, words.front(), actions.get(), nullptr, words.data(), environ)) {
    process_ = 0;
    throw BloomgateError(ErrorCode::cannot_open,
                         "start journalctl: " + std::generic_category().message(error) + kRemedy,
                         {.path = "journalctl"});
  }
}

Journal::~Journal() {
  if (process_ == 0) return;
  kill(process_, SIGTERM);
  wait();
}

std::string Journal::path() const {
  return "/proc/self/fd/" + std::to_string(output_.get());
}

int Journal::wait() noexcept {
  int status = -1;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  return status;
}

void Journal::finish() {
  const int status = wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) : "a signal";
  throw BloomgateError(ErrorCode::cannot_read, "journalctl ended with " + how + kMayRead + kRemedy,
                       {.path = "journalctl"});
}

}  // namespace bloomgate
