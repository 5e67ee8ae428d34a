// The order in which servers are asked: as configured, but servers that failed lately come last. When the rest period
// of a failed server is over, one message tries it first; other messages wait for the result. Servers are identified by
// index only. Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace bloomgate {

class ServerOrder {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // How long a failed server comes last.
  static constexpr std::chrono::seconds kRest{10};

  explicit ServerOrder(std::size_t count) : servers_(count) {}

  // All servers, each once. Throws std::bad_alloc.
  std::vector<std::size_t> next(Time now);

  void answered(std::size_t server) noexcept;
  void failed(std::size_t server, Time now) noexcept;

 private:
  struct Server {
    bool has_failed = false;
    Time rests_until = {};
  };

  std::mutex mutex_;
  std::vector<Server> servers_;
};

}  // namespace bloomgate
