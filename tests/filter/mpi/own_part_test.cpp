#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "filter/base/error.hpp"
#include "filter/layout/layout.hpp"
#include "filter/mpi/own_bits.hpp"
#include "filter/mpi/own_store.hpp"
#include "filter/mpi/shared_array.hpp"
#include "filter/store/store_cut.hpp"
#include "filter/store/store_page.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::mpi {
namespace {

using bloomgate::test::error_code_of;
using bloomgate::test::TemporaryFolder;

constexpr KeyHash kSlot = KeyHash{1} << 32;  // of hashes that mixing can make of each other
constexpr unsigned kRanks = 3;
constexpr unsigned kThreads = 2;

// Seven chunks, so that no border between ranks is at a round hash.
FilterShape shape_with_store(Layout layout) {
  return {.layout = layout,
          .hashes = layout == Layout::ribbon ? 1U : 6U,
          .block_bytes = layout == Layout::line ? 64U : 4096U,
          .block_count = layout == Layout::line ? 7U * 16384 - 5 : 7U * 256 - 5,
          .seed = 42,
          .store_seed = 1};
}

// Some everywhere, more than the least memory of a rank holds, and many that are stored beside a border, on either side
// of which mixing puts them.
std::vector<KeyHash> hashes_beside_borders(const SharedArray& array) {
  std::mt19937_64 chance(20261125);
  std::vector<KeyHash> hashes(1'500'000);
  for (KeyHash& hash : hashes) hash = chance();
  for (unsigned rank = 1; rank < kRanks; ++rank) {
    const KeyHash border = array.hashes_of(rank).first / kSlot * kSlot;
    for (const KeyHash slot : {border - kSlot, border, border + kSlot}) {
      for (int i = 0; i < 2000; ++i) hashes.push_back(slot + chance() % kSlot);
    }
  }
  return hashes;
}

// A rank without MPI, with a store if the shape has one.
struct Rank {
  Rank(const FilterShape& shape, const SharedArray& array, unsigned rank, const std::string& folder,
       std::uint64_t memory_bytes)
      : bits(shape, array, rank, kThreads, memory_bytes, folder), store(folder, kThreads) {
    if (shape.store_seed) bits.set_store(store);
  }
  OwnBits bits;
  OwnStore store;
};

constexpr std::uint64_t kLittle = 0;  // the least is taken then
constexpr std::uint64_t kMuch = std::uint64_t{64} << 20;

struct Job {
  Job(const FilterShape& shape, const std::string& folder, std::uint64_t memory_bytes, unsigned rank_count = kRanks)
      : array(shape, rank_count), hashes(hashes_beside_borders(SharedArray(shape, kRanks))) {
    std::vector<std::vector<KeyHash>> for_ranks(rank_count);
    for (const KeyHash stored : hashes) {
      const unsigned owner = array.owner_of(shape.store_seed ? mix_hash(stored, shape.seed) : stored);
      const unsigned keeper = shape.store_seed ? array.keeper_of(stored) : owner;
      for_ranks[owner].push_back(stored);
      if (keeper != owner) for_ranks[keeper].push_back(stored);
      parted += keeper != owner ? 1U : 0U;
    }
    for (unsigned rank = 0; rank < rank_count; ++rank) {
      ranks.push_back(std::make_unique<Rank>(shape, array, rank, folder, memory_bytes));
      for (std::span<const KeyHash> rest = for_ranks[rank]; !rest.empty();) {
        const auto round = rest.first(std::min<std::size_t>(rest.size(), 70'000));
        ranks.back()->bits.take(round);
        rest = rest.subspan(round.size());
      }
      ranks.back()->bits.finish();
    }
  }
  std::vector<std::byte> bits() const {
    std::vector<std::byte> all;
    for (const auto& rank : ranks) {
      const auto own = rank->bits.bytes();
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  SharedArray array;
  std::vector<KeyHash> hashes;
  std::vector<std::unique_ptr<Rank>> ranks;
  unsigned parted = 0;  // hashes of which one rank has the bits, and another one the place in the store
};

// In layouts that set bits, whatever else is set.
std::vector<std::byte> bits_of_one(const FilterShape& shape, std::span<const KeyHash> hashes) {
  const AnonymousMemory memory(body_bytes(shape), "a test");
  std::vector<KeyHash> mixed(hashes.size());
  mix_hashes(hashes, shape.seed, mixed.data());
  layout_rules(shape.layout).set_bits(shape, {memory.bytes().data()}, mixed);
  return {memory.bytes().begin(), memory.bytes().end()};
}

using Pages = std::map<std::uint64_t, std::vector<std::byte>>;  // by the first page of their chunk

Pages pages_of_one(std::vector<KeyHash> hashes, unsigned low_bits, std::vector<KeyHash>& index) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  StoreCut cut(low_bits);
  std::span<const KeyHash> rest = hashes;
  const AnonymousMemory memory(kChecksumChunkBytes, "a test");
  Pages pages;
  for (const StoreChunk& chunk : cut.cut(rest, true)) {
    const auto made = cut.make(chunk, memory.bytes().first<kChecksumChunkBytes>());
    pages[chunk.first_page].assign(made.begin(), made.end());
  }
  index = cut.index();
  return pages;
}

TEST_CASE_METHOD(test::InFolder,
                 "a hash at the border of two ranks has its bits in one rank, and its store page in one") {
  for (const Layout layout : {Layout::page, Layout::line}) {
    for (const std::uint64_t memory_bytes : {kLittle, kMuch}) {
      const FilterShape shape = shape_with_store(layout);
      const Job job(shape, folder.path(), memory_bytes);
      CHECK(job.parted > 1000);
      CHECK(job.bits() == bits_of_one(shape, job.hashes));
    }
  }
}

TEST_CASE_METHOD(test::InFolder, "ranks with little memory make the same bits as one process with much") {
  for (const Layout layout : {Layout::page, Layout::ribbon}) {
    for (const bool has_store : {false, true}) {
      INFO(layout_rules(layout).name() << ' ' << has_store);
      FilterShape shape = shape_with_store(layout);
      if (!has_store) shape.store_seed.reset();
      CHECK(Job(shape, folder.path(), kLittle).bits() == Job(shape, folder.path(), kMuch, 1).bits());
    }
  }
}

TEST_CASE_METHOD(test::InFolder, "the parts of a store that ranks make are together the store that one process makes") {
  const unsigned rank_count = GENERATE(1U, kRanks);  // one has more than it reads at once
  Job job(shape_with_store(Layout::page), folder.path(), kLittle, rank_count);
  const unsigned low_bits = low_bits_for(job.hashes.size());
  std::vector<KeyHash> wanted_index;
  const Pages wanted = pages_of_one(job.hashes, low_bits, wanted_index);
  CHECK(wanted.size() > 1);
  CutRest rest;
  std::vector<KeyHash> index;
  std::mutex mutex;
  Pages pages;
  std::uint64_t hashes = 0;
  for (unsigned rank = 0; rank < rank_count; ++rank) {
    OwnStore& store = job.ranks[rank]->store;
    CHECK(rest.first_page == index.size());
    rest = store.cut(std::move(rest), low_bits, rank + 1 == rank_count);
    CHECK(store.first_page() == index.size());
    index.insert(index.end(), store.index().begin(), store.index().end());
    hashes += store.hashes();
    store.make([&](std::uint64_t first_page, std::span<const std::byte> made) {
      const std::lock_guard lock(mutex);
      CHECK(reinterpret_cast<std::uintptr_t>(made.data()) % kStorePageBytes == 0);
      pages[first_page].assign(made.begin(), made.end());
    });
  }
  CHECK(rest.left.empty());
  CHECK(index == wanted_index);
  CHECK(pages == wanted);
  std::ranges::sort(job.hashes);
  CHECK(hashes == static_cast<std::uint64_t>(std::ranges::unique(job.hashes).begin() - job.hashes.begin()));
}

TEST_CASE_METHOD(test::InFolder, "a rank refuses hashes of others") {
  const FilterShape shape = shape_with_store(Layout::page);
  const SharedArray array(shape, kRanks);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    Rank one(shape, array, rank, folder.path(), 0);
    const HashRange own = array.stored_hashes_of(rank);
    CHECK_NOTHROW(one.bits.take(std::array{own.first, own.last}));
    const HashRange other = array.stored_hashes_of((rank + 1) % kRanks);
    const std::array far = {other.first / 2 + other.last / 2};
    CHECK(error_code_of([&] { one.bits.take(far); }) == ErrorCode::bad_argument);
  }
  // So few bits that only the first rank has any.
  FilterShape small = shape;
  small.block_count = 10;
  const SharedArray few(small, kRanks);
  CHECK(few.has_blocks(0));
  CHECK_FALSE(few.has_blocks(1));
  CHECK(few.owner_of(~KeyHash{0}) == 0);
  CHECK(few.hashes_of(1).has(0));  // nothing of use, and not what lies behind the last border
  CHECK(few.hashes_of(1).has(~KeyHash{0}));
  OwnBits none(small, few, 1, 1, 0, folder.path());
  CHECK_NOTHROW(none.take({}));
  CHECK(error_code_of([&] { none.take(std::array{KeyHash{5}}); }) == ErrorCode::bad_argument);
}

TEST_CASE("each hash has one owner and one keeper, with any number of ranks") {
  for (const unsigned ranks : {1U, 2U, 3U, 5U, 7U, 9U}) {
    for (const Layout layout : {Layout::page, Layout::line, Layout::ribbon}) {
      const SharedArray array(shape_with_store(layout), ranks);
      KeyHash next = 0;
      KeyHash next_stored = 0;
      std::uint64_t next_block = 0;
      const auto block_of = [shape = shape_with_store(layout)](KeyHash hash) {
        return layout_rules(shape.layout).bytes_of(shape, hash).begin / shape.block_bytes;
      };
      for (unsigned rank = 0; rank < ranks && array.has_blocks(rank); ++rank) {
        INFO(rank << " of " << ranks);
        const HashRange own = array.hashes_of(rank);
        const HashRange stored = array.stored_hashes_of(rank);
        CHECK(own.first == next);
        CHECK(stored.first == next_stored);
        CHECK(stored.first % kSlot == 0);
        for (const KeyHash hash : {own.first, own.last, own.first / 2 + own.last / 2})
          CHECK(array.owner_of(hash) == rank);
        for (const KeyHash hash : {stored.first, stored.last}) CHECK(array.keeper_of(hash) == rank);
        CHECK(array.blocks_of(rank).first == next_block);
        CHECK(block_of(own.first) == next_block);
        next_block = array.blocks_of(rank).end();
        CHECK(block_of(own.last) == next_block - 1);
        next = own.last + 1;
        next_stored = stored.last + 1;
      }
      CHECK(next == 0);  // after the greatest
      CHECK(next_stored == 0);
      CHECK(next_block == shape_with_store(layout).block_count);
    }
  }
  FilterShape shape = shape_with_store(Layout::page);
  shape.block_bytes = 3 * 4096;
  CHECK(error_code_of([&] { SharedArray(shape, 2); }) == ErrorCode::bad_argument);
  shape.layout = Layout::classic;
  CHECK(error_code_of([&] { SharedArray(shape, 2); }) == ErrorCode::unsupported_layout);
}

TEST_CASE("a temporary file that cannot be made is an error that names it") {
  CHECK(error_code_of([] { OwnStore("/nowhere/at/all", 1); }) == ErrorCode::cannot_write);
}

}  // namespace
}  // namespace bloomgate::mpi
