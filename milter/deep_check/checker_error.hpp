// One server has not given its opinion: it could not be reached, did not answer in time, or answered nonsense. Thrown
// by the clients and the parsers of this folder, caught by DeepCheck, which goes on to the next server.
#pragma once

#include <chrono>
#include <stdexcept>

namespace bloomgate {

// `what()` does not name the server. It may hold any bytes that the server sent, a bounded number of them.
class CheckerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// When an answer has to be there.
using Deadline = std::chrono::steady_clock::time_point;

}  // namespace bloomgate
