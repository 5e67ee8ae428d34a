#include "filter/store/store_cut.hpp"

#include <algorithm>
#include <random>

#include "filter/store/store_page.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::vector<KeyHash> even_hashes(std::size_t count) {
  std::mt19937_64 chance(20261125);
  std::vector<KeyHash> hashes(count);
  for (KeyHash& hash : hashes) hash = chance();
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  return hashes;
}

std::vector<std::byte> pages_of(const StoreCut& cut, const std::vector<StoreChunk>& chunks) {
  const AnonymousMemory memory(kChecksumChunkBytes, "a test");
  std::vector<std::byte> all;
  for (const StoreChunk& chunk : chunks) {
    const auto made = cut.make(chunk, memory.bytes().first<kChecksumChunkBytes>());
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

TEST_CASE("a store made from sorted runs has the same pages, however the hashes arrive") {
  const std::vector<KeyHash> hashes = even_hashes(600'000);
  const unsigned low_bits = low_bits_for(hashes.size());
  StoreCut alone(low_bits);
  std::span<const KeyHash> rest = hashes;
  const std::vector<std::byte> wanted = pages_of(alone, alone.cut(rest, true));
  for (const std::size_t at_once : {100U, 877U, 30'000U, 600'000U}) {
    CAPTURE(at_once);
    StoreCut cut(low_bits);
    std::vector<StoreChunk> chunks;  // which keep the runs
    const auto take = [&](std::vector<StoreChunk> more) { chunks.insert(chunks.end(), more.begin(), more.end()); };
    for (std::size_t at = 0; at < hashes.size(); at += at_once) {
      const auto run = std::span(hashes).subspan(at, std::min(at_once, hashes.size() - at));
      take(cut.cut(HashRun(std::make_shared<const std::vector<KeyHash>>(run.begin(), run.end()))));
    }
    REQUIRE(chunks.size() == wanted.size() / kChecksumChunkBytes);
    take(cut.cut_rest());
    CHECK(cut.cut_rest().empty());
    CHECK((pages_of(cut, chunks) == wanted));
    CHECK(cut.index() == alone.index());
    CHECK(cut.hashes() == hashes.size());
    CHECK(chunks.back().first_page == 256 * (wanted.size() / kChecksumChunkBytes));
  }
}

TEST_CASE("the last page of a chunk waits for hashes that still belong to it") {
  const std::vector<KeyHash> hashes = even_hashes(600'000);
  StoreCut whole(low_bits_for(hashes.size()));
  std::span<const KeyHash> rest = hashes;
  whole.cut(rest, true);
  const auto last_page = static_cast<std::size_t>(std::ranges::find(hashes, whole.index()[255]) - hashes.begin());
  for (const bool is_last : {false, true}) {
    StoreCut cut(low_bits_for(hashes.size()));
    rest = std::span(hashes).first(last_page + 10);
    CHECK(cut.cut(rest, is_last).size() == (is_last ? 1U : 0U));
    CHECK(rest.size() == (is_last ? 0 : last_page + 10));
    CHECK(cut.next_page() == (is_last ? 256U : 0U));
  }
}

// What each of several processes makes of its hashes, which gives the next one what is left.
TEST_CASE("a store cut by several threads equals the store cut by one") {
  const std::vector<KeyHash> hashes = even_hashes(1'500'000);
  const unsigned low_bits = low_bits_for(hashes.size());
  StoreCut alone(low_bits);
  std::span<const KeyHash> rest = hashes;
  const std::vector<std::byte> wanted = pages_of(alone, alone.cut(rest, true));
  REQUIRE(rest.empty());
  CHECK(wanted.size() == alone.next_page() * kStorePageBytes);
  CHECK(alone.hashes() == hashes.size());

  StoreCut all(low_bits);
  std::vector<std::byte> made;
  std::vector<KeyHash> waiting;
  // The first has less than a page, so it leaves everything to the second.
  const std::size_t ends[] = {3, 700'001, 700'002, hashes.size()};
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    waiting.insert(waiting.end(), hashes.begin() + static_cast<std::ptrdiff_t>(begin),
                   hashes.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    StoreCut own(low_bits, all.next_page());
    rest = waiting;
    const auto bytes = pages_of(own, own.cut(rest, end == hashes.size()));
    made.insert(made.end(), bytes.begin(), bytes.end());
    all.add_made(own.index(), own.hashes());
    CHECK(all.next_page() == own.next_page());
    waiting.assign(rest.begin(), rest.end());
    CHECK(waiting.size() < 300'000);  // less than a MiB and a page have
  }
  CHECK(waiting.empty());
  CHECK((made == wanted));
  CHECK(all.index() == alone.index());
  CHECK(all.hashes() == hashes.size());
}

}  // namespace
}  // namespace bloomgate
