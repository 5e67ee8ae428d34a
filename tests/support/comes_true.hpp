// Waits for what another thread brings about.
#pragma once

#include <chrono>
#include <thread>

namespace bloomgate::test {

// Whether the condition holds within half a minute, which is for a busy machine with a sanitizer.
template <typename Condition>
bool comes_true(Condition holds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace bloomgate::test
