#include "milter/doctor/run_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace bloomgate {
namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;

void throw_if(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// Reads to the end, so that the program can write all it has; keeps the first part.
std::string read_output(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  ssize_t got = 0;
  while ((got = read(descriptor, part.data(), part.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0 && text.size() < kMaxOutputBytes) text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& words) {
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
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  ProgramResult result;
  if (error == 0) {
    result.started = true;
    result.output = read_output(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  }
  close(ends[0]);
  if (error != 0 && error != ENOENT && error != EACCES) throw_if(error, "posix_spawn");
  return result;
}

}  // namespace bloomgate
