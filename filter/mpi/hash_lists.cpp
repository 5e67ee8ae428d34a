#include "filter/mpi/hash_lists.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bloomgate::mpi {
namespace {

// A message has less than 2^31 bytes.
constexpr std::size_t kHashesOfMessage = std::size_t{1} << 27;

}  // namespace

void send_hashes(const Communicator& communicator, unsigned to, std::span<const KeyHash> hashes) {
  const std::array<std::uint64_t, 1> count = {hashes.size()};
  communicator.send(to, std::as_bytes(std::span(count)));
  do {
    const auto piece = hashes.first(std::min(hashes.size(), kHashesOfMessage));
    communicator.send(to, std::as_bytes(piece));
    hashes = hashes.subspan(piece.size());
  } while (!hashes.empty());
}

std::vector<KeyHash> receive_hashes(const Communicator& communicator, unsigned from) {
  std::array<std::uint64_t, 1> count = {};
  communicator.receive(from, std::as_writable_bytes(std::span(count)));
  std::vector<KeyHash> hashes(count[0]);
  std::span<KeyHash> rest = hashes;
  do {
    const auto piece = rest.first(std::min(rest.size(), kHashesOfMessage));
    communicator.receive(from, std::as_writable_bytes(piece));
    rest = rest.subspan(piece.size());
  } while (!rest.empty());
  return hashes;
}

std::vector<KeyHash> united(std::vector<KeyHash> a, std::vector<KeyHash> b) {
  // Counts first, so that no memory is wasted.
  std::size_t count = 0;
  const auto for_each = [&](auto use) {
    auto at_a = a.cbegin();
    auto at_b = b.cbegin();
    while (at_a != a.cend() || at_b != b.cend()) {
      const KeyHash least = at_b == b.cend() || (at_a != a.cend() && *at_a < *at_b) ? *at_a : *at_b;
      use(least);
      while (at_a != a.cend() && *at_a == least) ++at_a;
      while (at_b != b.cend() && *at_b == least) ++at_b;
    }
  };
  for_each([&](KeyHash) { ++count; });
  std::vector<KeyHash> all;
  all.reserve(count);
  for_each([&](KeyHash hash) { all.push_back(hash); });
  return all;
}

std::vector<KeyHash> hashes_of_all(const Communicator& communicator, std::vector<KeyHash> own) {
  if (communicator.rank() != 0) {
    send_hashes(communicator, 0, own);
    return {};
  }
  std::ranges::sort(own);
  for (unsigned rank = 1; rank < communicator.ranks(); ++rank) {
    std::vector<KeyHash> theirs = receive_hashes(communicator, rank);
    std::ranges::sort(theirs);
    own = united(std::move(own), std::move(theirs));
  }
  own.erase(std::ranges::unique(own).begin(), own.end());
  return own;
}

}  // namespace bloomgate::mpi
