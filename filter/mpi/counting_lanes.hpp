// Counts the addresses of lists, where no one knows how many these are before they are read: what the filter is sized
// for. It takes entries as FilterBuilder does, and keeps none.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"

namespace bloomgate::mpi {

class CountingLanes {
 public:
  struct alignas(64) Lane {
    void add(const Entry& entry) noexcept { addresses += goes_into_bits(entry.kind()) ? 1U : 0U; }
    void add_pair(std::string_view /*key*/) noexcept { ++addresses; }
    void add_address(std::string_view /*key*/) noexcept { ++addresses; }
    void settle() const noexcept {}

    std::uint64_t addresses = 0;
  };

  explicit CountingLanes(unsigned threads) : lanes_(threads) {}

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }
  bool has_room_for(std::uint64_t /*entries*/) const noexcept { return true; }
  void flush() const noexcept {}

  std::uint64_t addresses() const noexcept {
    std::uint64_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.addresses;
    return sum;
  }

 private:
  std::vector<Lane> lanes_;
};

}  // namespace bloomgate::mpi
