// One server has given no verdict: it was unreachable, did not answer in time, or sent an invalid answer. The clients
// and the parsers of this folder throw this error; Checkers catches it and continues with the next server.
#pragma once

#include <chrono>
#include <stdexcept>

namespace bloomgate {

// `what()` does not name the server. It may contain any bytes that the server sent, up to a bounded number.
class CheckerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The time by which an answer must have come.
using Deadline = std::chrono::steady_clock::time_point;

}  // namespace bloomgate
