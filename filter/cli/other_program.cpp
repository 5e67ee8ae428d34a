#include "filter/cli/other_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "filter/base/error.hpp"

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

}  // namespace bloomgate::cli
