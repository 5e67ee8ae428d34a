#include "milter/doctor/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <thread>

namespace bloomgate {
namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;

void throw_if(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

// Reads to the end, so that the program can write all its output; keeps the first part. Returns false if the end does
// not come before the deadline.
bool read_output(int descriptor, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> part;
  for (;;) {
    pollfd waited{descriptor, POLLIN, 0};
    const int ready = poll(&waited, 1, milliseconds_until(deadline));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (text.size() < kMaxOutputBytes) text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// A program that has closed its output may keep running. Returns false if it still runs at the deadline.
bool wait_for_end(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_if(errno, "pipe2");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A separate process group, so that the processes that it starts end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  ProgramResult result;
  if (error == 0) {
    result.started = true;
    int status = 0;
    if (!read_output(ends[0], deadline, result.output) || !wait_for_end(child, deadline, status)) {
      result.timed_out = true;
      result.output.clear();
      kill(-child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  }
  close(ends[0]);
  if (error != 0 && error != ENOENT && error != EACCES) throw_if(error, "posix_spawn");
  return result;
}

}  // namespace bloomgate
