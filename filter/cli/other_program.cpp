#include "filter/cli/other_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/cli/failure.hpp"

namespace bloomgate::cli {
namespace {

std::string path_of(std::string_view program) {
  std::error_code none;  // without /proc: as named from the working folder
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  const std::filesystem::path beside = own / program;
  return access(beside.c_str(), X_OK) == 0 ? beside : (own / BLOOMGATE_PROGRAM_FOLDER / program).lexically_normal();
}

}  // namespace

void become_program(std::string_view name, const Arguments& arguments) {
  const std::string program = "bloomgate-" + std::string(name);
  const std::string path = path_of(program);
  Arguments texts = {program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  throw system_error(ErrorCode::cannot_open, "the program of this command, which is installed with 'bloomgate'", path,
                     errno);
}

int call_program(std::string_view name, const Arguments& arguments) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == -1) throw system_error(ErrorCode::no_system_resource, "start a program", std::string(name), errno);
  if (child == 0) {
    try {
      become_program(name, arguments);
    } catch (...) {
      const Failure failure = current_failure();
      std::cerr << "bloomgate " << name << ": " << failure.what << '\n';
      _exit(failure.status);
    }
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended == -1 && errno == EINTR);
  return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

}  // namespace bloomgate::cli
