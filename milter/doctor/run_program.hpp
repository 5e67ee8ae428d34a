// Runs a program and keeps what it prints. For `--doctor` only: nothing that serves mail starts programs.
#pragma once

#include <string>
#include <vector>

namespace bloomgate {

struct ProgramResult {
  bool started = false;  // false: there is no such program
  int status = -1;       // its exit status; -1 if a signal ended it
  std::string output;    // its standard output, of which 1 MiB is kept
};

// `words` are the program, looked up in PATH, and its arguments; no shell reads them. Waits for its end. Its standard
// input is empty and its standard error is dropped. Throws std::system_error if the system gives no pipe or process.
ProgramResult run_program(const std::vector<std::string>& words);

}  // namespace bloomgate
