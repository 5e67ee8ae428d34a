// Runs a program and keeps what it prints. Used by `doctor` and `reload`: nothing that serves mail starts programs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bloomgate {

struct ProgramResult {
  bool started = false;     // false: there is no such program
  bool timed_out = false;   // it was killed, since it did not end in time; its output is dropped
  int status = -1;          // its exit status; -1 if a signal ended it
  std::string output = {};  // its standard output, of which 1 MiB is kept
};

inline constexpr std::chrono::seconds kProgramPatience{10};
// The daemon's systemd unit, about which systemctl is asked.
inline constexpr const char* kUnit = "bloomgate-milter.service";

// `words` are the program, looked up in PATH, and its arguments; no shell reads them. Waits for its end; if it does not
// end in time, kills it with all processes that it has started. Its standard input is empty and its standard error is
// dropped. Throws std::system_error if the system has no pipe or process left.
ProgramResult run_program(const std::vector<std::string>& words, std::chrono::milliseconds patience = kProgramPatience);

}  // namespace bloomgate
