// The program that anybody would write first: `peer_loop LIST ENTRIES` reads lines with std::getline, hashes them with
// std::hash and sets k = 6 bits by double hashing in a std::vector<bool> of 8 bits an entry.
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

constexpr unsigned kHashes = 6;
constexpr std::uint64_t kBitsPerEntry = 8;

// Calls `visit(bit)` for each of the line's bits, while it gives true.
template <typename Visit>
bool for_each_bit(const std::string& line, std::uint64_t bits, Visit visit) {
  const std::uint64_t hash = std::hash<std::string>{}(line);
  const std::uint64_t step = (hash >> 32) | 1;
  for (unsigned i = 0; i < kHashes; ++i) {
    if (!visit((hash + i * step) % bits)) return false;
  }
  return true;
}

Json run(const std::string& path, std::uint64_t entries) {
  const std::uint64_t bits = entries * kBitsPerEntry;
  const Stopwatch build_watch;
  std::vector<bool> filter(bits);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::uint64_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    for_each_bit(line, bits, [&](std::uint64_t bit) { return filter[bit] = true; });
  }
  const double build_seconds = build_watch.seconds();

  std::ifstream again(path);
  std::uint64_t found = 0;
  const Stopwatch query_watch;
  for (std::string line; std::getline(again, line);) {
    found += for_each_bit(line, bits, [&](std::uint64_t bit) { return bool{filter[bit]}; }) ? 1U : 0U;
  }
  const double query_seconds = query_watch.seconds();
  if (found != lines) throw std::runtime_error("a member is missing");

  std::ifstream strangers(path);
  std::uint64_t false_positives = 0;
  for (std::string line; std::getline(strangers, line);) {
    line = stranger_of(line);
    false_positives += for_each_bit(line, bits, [&](std::uint64_t bit) { return bool{filter[bit]}; }) ? 1U : 0U;
  }
  return {{"entries", lines},  {"build_seconds", build_seconds},
          {"bytes", bits / 8}, {"query_seconds", query_seconds},
          {"queries", lines},  {"fpr", static_cast<double>(false_positives) / static_cast<double>(lines)}};
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: peer_loop LIST ENTRIES\n";
    return 64;
  }
  return bloomgate::bench::run_bench([&] { return bloomgate::bench::run(argv[1], std::stoull(argv[2])); });
}
