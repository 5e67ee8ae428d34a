// Programs that stand in for those of the system: shell scripts, in a folder that is the only one in PATH.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

class StandInPrograms {
 public:
  StandInPrograms() : before_(std::getenv("PATH")) { setenv("PATH", folder_.path().c_str(), 1); }
  ~StandInPrograms() { setenv("PATH", before_.c_str(), 1); }
  StandInPrograms(const StandInPrograms&) = delete;
  StandInPrograms& operator=(const StandInPrograms&) = delete;

  // `script` finds what the shell has built in, and other programs by their absolute paths.
  void put(const std::string& name, const std::string& script) const {
    write_file(folder_.file(name), "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms::owner_all);
  }
  // The words after the program's name go into the file `words`, each on a line.
  void put_noting_words(const std::string& name, const std::string& script) const {
    put(name, "printf '%s\\n' \"$@\" > '" + folder_.file("words") + "'\n" + script);
  }
  std::string words() const { return read_file(folder_.file("words")); }
  void remove(const std::string& name) const { std::filesystem::remove(folder_.file(name)); }

 private:
  const std::string before_;
  const TemporaryFolder folder_;
};

}  // namespace bloomgate::test
