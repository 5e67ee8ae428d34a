// The bit array made in chunks, out of hashes in order: the same bytes as all at once, also where a hash is mixed over
// the end of its chunk.
#include "filter/engine/body_stream.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "filter/system/anonymous_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kSeed = 99;

FilterShape shape_with(Layout layout, std::uint64_t blocks) {
  return {.layout = layout,
          .hashes = layout == Layout::ribbon ? 1U : 6U,
          .block_bytes = 4096,
          .block_count = blocks,
          .seed = kSeed,
          .store_seed = 1};
}

// Even ones, and some at each end of a chunk, which mixing moves to either side of it.
std::vector<KeyHash> hashes_for(const FilterShape& shape) {
  std::vector<KeyHash> hashes;
  std::mt19937_64 random(5);
  for (int i = 0; i < 60'000; ++i) hashes.push_back(random());
  const LayoutRules& rules = layout_rules(shape.layout);
  for (std::uint64_t end = kChecksumChunkBytes; end < body_bytes(shape); end += kChecksumChunkBytes) {
    KeyHash least = 0;  // the first whose bits are not before the end
    for (KeyHash bit = KeyHash{1} << 63; bit != 0; bit >>= 1) {
      if (rules.bytes_of(shape, least + bit - 1).begin < end) least += bit;
    }
    for (int i = 0; i < 200; ++i) hashes.push_back((least & ~KeyHash{0xffffffff}) | (random() & 0xffffffff));
  }
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

// By the rules alone: block for block.
std::vector<std::byte> body_of(const FilterShape& shape, const std::vector<KeyHash>& hashes) {
  std::vector<KeyHash> mixed(hashes.size());
  mix_hashes(hashes, shape.seed, mixed.data());
  std::ranges::sort(mixed);
  std::vector<std::byte> body(body_bytes(shape));
  const LayoutRules& rules = layout_rules(shape.layout);
  for (auto at = mixed.begin(); at != mixed.end();) {
    const std::uint64_t block = rules.bytes_of(shape, *at).begin;
    const auto end = std::find_if(at, mixed.end(), [&](KeyHash h) { return rules.bytes_of(shape, h).begin != block; });
    rules.set_bits(shape, {body.data()}, {at, end});
    at = end;
  }
  return body;
}

TEST_CASE("the chunks of an array are its bytes, however the hashes come") {
  const auto layout = GENERATE(Layout::page, Layout::ribbon);
  const FilterShape shape = shape_with(layout, 3 * 256 + 77);
  const std::vector<KeyHash> hashes = hashes_for(shape);
  const std::vector<std::byte> want = body_of(shape, hashes);
  const std::size_t at_once = GENERATE(7U, 1000U, 1'000'000U);
  if (test::kIsSanitized && at_once == 7) return;
  CAPTURE(layout_rules(layout).name(), at_once);

  BodyStream stream(shape);
  const AnonymousMemory memory(kChecksumChunkBytes, "a chunk");
  std::vector<std::byte> got;
  const auto take = [&](const std::vector<BodyStream::Chunk>& chunks) {
    for (const BodyStream::Chunk& chunk : chunks) {
      REQUIRE(chunk.begin == got.size());
      const auto made = stream.make(chunk, memory.bytes().first<kChecksumChunkBytes>());
      got.insert(got.end(), made.begin(), made.end());
    }
  };
  for (std::size_t at = 0; at < hashes.size(); at += at_once) {
    const auto begin = hashes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = hashes.begin() + static_cast<std::ptrdiff_t>(std::min(hashes.size(), at + at_once));
    take(stream.cut(HashRun(std::make_shared<const std::vector<KeyHash>>(begin, end))));
  }
  CHECK(!got.empty());
  take(stream.cut_rest());
  CHECK((got == want));
}

TEST_CASE("hashes are released with the last chunk that needs them") {
  constexpr std::size_t kAtOnce = 1000;
  const FilterShape shape = shape_with(Layout::page, 4 * 256);
  const std::vector<KeyHash> hashes = hashes_for(shape);
  BodyStream stream(shape);
  std::vector<std::weak_ptr<const std::vector<KeyHash>>> runs;
  const auto kept = [&] {
    return static_cast<std::size_t>(std::ranges::count_if(runs, [](const auto& run) { return !run.expired(); }));
  };
  for (std::size_t at = 0; at < hashes.size(); at += kAtOnce) {
    const auto some = std::span(hashes).subspan(at, std::min(kAtOnce, hashes.size() - at));
    const auto run = std::make_shared<const std::vector<KeyHash>>(some.begin(), some.end());
    runs.push_back(run);
    stream.cut(HashRun(run));  // and whoever made these chunks is done with them
  }
  // Each of the four has as many, and those at its ends may be needed by two.
  CHECK(kept() >= 1);
  CHECK(kept() <= runs.size() / 4 + 3);
  stream.cut_rest();
  CHECK(kept() == 0);
}

TEST_CASE("an array without entries is made, too") {
  BodyStream stream(shape_with(Layout::page, 300));
  CHECK(stream.cut(HashRun()).empty());
  const auto chunks = stream.cut_rest();
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[1].bytes == 300 * 4096 - kChecksumChunkBytes);
  std::vector<std::byte> memory(kChecksumChunkBytes, std::byte{0xff});
  const auto made = stream.make(chunks[1], std::span(memory).first<kChecksumChunkBytes>());
  CHECK(made.size() == chunks[1].bytes);
  CHECK(std::ranges::count(made, std::byte{0}) == static_cast<std::ptrdiff_t>(made.size()));
}

}  // namespace
}  // namespace bloomgate
