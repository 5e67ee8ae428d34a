#include "milter/deep_check/server_order.hpp"

#include <algorithm>
#include <numeric>

namespace bloomgate {

std::vector<std::size_t> ServerOrder::next(Time now) {
  std::vector<std::size_t> order(servers_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::lock_guard lock(mutex_);
  const auto rests_until = [&](std::size_t index) {
    const Server& server = servers_[index];
    return server.has_failed && server.rests_until > now ? server.rests_until : Time::min();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rests_until(a) < rests_until(b); });
  if (Server& first = servers_[order.front()]; first.has_failed) first.rests_until = now + kRest;
  return order;
}

void ServerOrder::answered(std::size_t server) noexcept {
  const std::lock_guard lock(mutex_);
  servers_[server].has_failed = false;
}

void ServerOrder::failed(std::size_t server, Time now) noexcept {
  const std::lock_guard lock(mutex_);
  servers_[server] = {true, now + kRest};
}

}  // namespace bloomgate
