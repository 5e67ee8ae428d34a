// The floor under every builder: `bench_floor read|hash THREADS FILE...` reads the files in blocks, and with `hash`
// finds their lines and hashes each (XXH3), and does nothing else.
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <bit>
#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/ingest/blocks.hpp"
#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

struct Sum {
  std::uint64_t lines = 0;
  std::uint64_t hashes = 0;  // added up, so that nobody can leave them out
};

// One bit for each of 64 bytes: whether it is a line end.
std::uint64_t line_ends(const char* text) {
  std::uint64_t mask = 0;
#ifdef __SSE2__
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text) + i);
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
    mask |= std::uint64_t{static_cast<std::uint32_t>(found)} << (16 * i);
  }
#else
  for (unsigned i = 0; i < 64; ++i) mask |= std::uint64_t{text[i] == '\n'} << i;
#endif
  return mask;
}

void hash_lines(std::string_view text, Sum& sum) {
  constexpr std::size_t kStep = 64;
  const char* line = text.data();
  const auto take = [&](const char* end) {
    sum.hashes += XXH3_64bits(line, static_cast<std::size_t>(end - line));
    ++sum.lines;
    line = end + 1;
  };
  std::size_t at = 0;
  for (; at + kStep <= text.size(); at += kStep) {
    for (std::uint64_t ends = line_ends(text.data() + at); ends != 0; ends &= ends - 1) {
      take(text.data() + at + std::countr_zero(ends));
    }
  }
  for (; at < text.size(); ++at) {
    if (text[at] == '\n') take(text.data() + at);
  }
  if (line < text.data() + text.size()) take(text.data() + text.size());
}

Json run(bool hash, unsigned threads, const std::vector<std::string>& files) {
  const std::atomic<bool> never{false};
  const Stopwatch watch;
  Blocks blocks(files, never);
  std::atomic<std::uint64_t> lines{0};
  std::atomic<std::uint64_t> hashes{0};
  run_parallel(threads, [&](unsigned) {
    Block block;
    Sum sum;
    while (blocks.next(block)) {
      if (hash) hash_lines(block.text, sum);
    }
    lines += sum.lines;
    hashes += sum.hashes;
  });
  return {
      {"lines", lines.load()}, {"hashes", hashes.load()}, {"bytes", blocks.done_bytes()}, {"seconds", watch.seconds()}};
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (argc < 4 || (arguments[1] != "read" && arguments[1] != "hash")) {
    std::cerr << "usage: bench_floor read|hash THREADS FILE...\n";
    return 64;
  }
  return bloomgate::bench::run_bench([&] {
    return bloomgate::bench::run(arguments[1] == "hash", static_cast<unsigned>(std::stoul(arguments[2])),
                                 {arguments.begin() + 3, arguments.end()});
  });
}
