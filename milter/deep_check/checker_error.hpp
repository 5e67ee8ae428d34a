// One server has given no verdict: it could not be reached, did not answer in time, or answered nonsense. The clients
// and the parsers of this folder throw it; Checkers catches it and goes on to the next server.
#pragma once

#include <chrono>
#include <stdexcept>

namespace bloomgate {

// `what()` does not name the server. It may hold any bytes that the server sent, a bounded number of them.
class CheckerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The time by which an answer must have come.
using Deadline = std::chrono::steady_clock::time_point;

}  // namespace bloomgate
