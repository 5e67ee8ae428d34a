#include "filter/store/store_page.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "filter/base/little_endian.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Page = std::array<std::byte, kStorePageBytes>;

constexpr KeyHash kLargest = std::numeric_limits<KeyHash>::max();

std::vector<KeyHash> random_hashes(std::size_t count, std::uint64_t seed, KeyHash from = 0, KeyHash to = kLargest) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<KeyHash> any(from, to);
  std::set<KeyHash> hashes;
  while (hashes.size() < count) hashes.insert(any(random));
  return {hashes.begin(), hashes.end()};
}

struct Row {
  std::string name;
  std::vector<KeyHash> hashes;
  unsigned low_bits;
};

std::vector<Row> rows() {
  std::vector<KeyHash> neighbours(500);
  std::iota(neighbours.begin(), neighbours.end(), KeyHash{1000});
  return {
      {"one hash", {12345}, 63},
      {"the extremes", {0, kLargest}, 63},
      {"the extremes with a wide step", {0, 1, kLargest - 1, kLargest}, 52},
      {"even hashes", random_hashes(10'000, 1), low_bits_for(10'000)},
      {"hashes as dense as among 10^9", random_hashes(2000, 2, 0, KeyHash{2000} << 34), 34},
      {"neighbours", neighbours, 0},
      {"neighbours with many low bits", neighbours, 60},
      {"two crowds far from one another", {5, 6, 7, KeyHash{1} << 60, (KeyHash{1} << 60) + 1}, 40},
  };
}

// Cuts the hashes into pages as the writer does.
std::vector<std::vector<KeyHash>> cut(std::span<const KeyHash> hashes, unsigned low_bits) {
  std::vector<std::vector<KeyHash>> pages;
  while (!hashes.empty()) {
    const std::size_t count = hashes_in_page(hashes, low_bits);
    pages.emplace_back(hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(count));
    hashes = hashes.subspan(count);
  }
  return pages;
}

TEST_CASE("a page has the hashes that it was made of, and no others") {
  const Row row = GENERATE(from_range(rows()));
  CAPTURE(row.name);
  const auto pages = cut(row.hashes, row.low_bits);
  for (std::size_t number = 0; number < pages.size(); ++number) {
    Page page;
    encode_store_page(pages[number], row.low_bits, number, page);
    CHECK(store_page_is_sound(page, number));
    std::vector<KeyHash> decoded = {7};
    REQUIRE(decode_store_page(page, row.low_bits, decoded));
    CHECK(std::equal(decoded.begin() + 1, decoded.end(), pages[number].begin(), pages[number].end()));
    const std::set<KeyHash> want(pages[number].begin(), pages[number].end());
    std::size_t wrong = 0;
    for (const KeyHash hash : row.hashes) {
      for (const KeyHash asked : {hash - 1, hash, hash + 1, hash ^ (KeyHash{1} << 40)}) {
        wrong += store_page_contains(page, row.low_bits, asked) == want.contains(asked) ? 0U : 1U;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("both decoders agree on sound and damaged pages, with any number of low bits") {
  for (unsigned low_bits = 0; low_bits <= kMostLowBits; ++low_bits) {
    CAPTURE(low_bits);
    const KeyHash greatest = low_bits < 52 ? KeyHash{4000} << low_bits : kLargest;
    const auto all = random_hashes(low_bits == 0 ? 2000 : 4000, low_bits, greatest / 7, greatest);
    std::mt19937_64 random(low_bits);
    for (const std::size_t most : {1U, 7U, 8U, 9U, 100U, 4000U}) {
      const std::span<const KeyHash> some = std::span(all).first(std::min<std::size_t>(most, all.size()));
      const auto hashes = some.first(hashes_in_page(some, low_bits));
      Page fastest = {};
      Page one_by_one = {};
      encode_store_page(hashes, low_bits, 3, fastest);
      encode_store_page(hashes, low_bits, 3, one_by_one, PageCoding::one_by_one);
      REQUIRE(fastest == one_by_one);
      for (int damaged = 0; damaged < 50; ++damaged) {
        std::vector<KeyHash> got = {1};
        std::vector<KeyHash> want = {1};
        REQUIRE(decode_store_page(fastest, low_bits, got) ==
                decode_store_page(fastest, low_bits, want, PageCoding::one_by_one));
        REQUIRE(got == want);
        fastest[random() % (damaged % 2 == 0 ? fastest.size() : 32)] ^= std::byte{1} << (random() % 8);
      }
    }
  }
}

TEST_CASE("a page takes as many hashes as fit, and one more would not") {
  const std::vector<KeyHash> hashes = random_hashes(2000, 3, 0, KeyHash{2000} << 34);
  const std::size_t count = hashes_in_page(hashes, 34);
  const auto bits = [&](std::size_t n) { return n * 35 + ((hashes[n - 1] - hashes[0]) >> 34); };
  CHECK(bits(count) <= 32576);
  CHECK(bits(count + 1) > 32576);
  CHECK(hashes_in_page(std::span(hashes).first(10), 34) == 10);
}

TEST_CASE("each of 10^9 entries takes 4.5 bytes") {
  const std::vector<KeyHash> hashes = random_hashes(200'000, 4, 0, KeyHash{200'000} * 18'446'744'073);
  const auto pages = cut(hashes, low_bits_for(1'000'000'000));
  CHECK(4096.0 * static_cast<double>(pages.size()) / 200'000 == Approx(4.53).epsilon(0.01));
}

TEST_CASE("the low bits are the whole part of log2(2^64 / n)") {
  CHECK(low_bits_for(0) == 63);
  CHECK(low_bits_for(1) == 63);
  CHECK(low_bits_for(2) == 63);
  CHECK(low_bits_for(3) == 62);
  CHECK(low_bits_for(4) == 62);
  CHECK(low_bits_for(5) == 61);
  CHECK(low_bits_for(1'000'000'000) == 34);
  CHECK(low_bits_for(kLargest) == 0);
}

TEST_CASE("a page with a flipped bit, or at another place, is damaged") {
  const std::vector<KeyHash> hashes = random_hashes(300, 5);
  Page page;
  encode_store_page(hashes, 56, 9, page);
  CHECK(store_page_is_sound(page, 9));
  CHECK_FALSE(store_page_is_sound(page, 8));
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = i == 0 ? 0 : i == 1 ? page.size() - 1 : random() % page.size();
    page[at] ^= std::byte{1};
    if (store_page_is_sound(page, 9)) FAIL("byte " << at);
    page[at] ^= std::byte{1};
  }
}

TEST_CASE("a page is filled to its last bit") {
  const std::uint64_t high = 32576 - 2 * 41;
  const std::vector<KeyHash> fit = {0, high << 40};
  const std::vector<KeyHash> do_not = {0, (high + 1) << 40};
  CHECK(hashes_in_page(fit, 40) == 2);
  CHECK(hashes_in_page(do_not, 40) == 1);
}

// A page behind which no byte can be read.
class LastPage {
 public:
  LastPage() : memory_(mmap(nullptr, 2 * kStorePageBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0)) {
    if (memory_ == MAP_FAILED || mprotect(bytes().data() + kStorePageBytes, kStorePageBytes, PROT_NONE) != 0) {
      throw std::runtime_error("no memory");
    }
  }
  ~LastPage() { munmap(memory_, 2 * kStorePageBytes); }
  LastPage(const LastPage&) = delete;
  LastPage& operator=(const LastPage&) = delete;

  std::span<std::byte, kStorePageBytes> bytes() const {
    return std::span<std::byte, kStorePageBytes>(static_cast<std::byte*>(memory_), kStorePageBytes);
  }
  void set_head(std::uint32_t count, std::uint32_t high_bits) const {
    store_little_endian(bytes().data() + 8, count);
    store_little_endian(bytes().data() + 12, high_bits);
  }
  // The first of the bits of the high parts.
  void set_ones(std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) bytes()[16 + i / 8] |= std::byte{1} << (i % 8);
  }

 private:
  static constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory_;
};

bool is_decoded(const LastPage& page, unsigned low_bits) {
  std::vector<KeyHash> decoded;
  const bool is_page = decode_store_page(page.bytes(), low_bits, decoded);
  if (!is_page) CHECK(decoded.empty());
  return is_page;
}

TEST_CASE("a page whose head contradicts its bits is refused, and nothing after it is read") {
  const LastPage page;
  SECTION("no hash at all") {
    page.set_head(0, 0);
    CHECK_FALSE(is_decoded(page, 40));
  }
  SECTION("fewer hashes than the head says") {
    encode_store_page(std::vector<KeyHash>{0, KeyHash{1} << 50}, 40, 0, page.bytes());
    CHECK(is_decoded(page, 40));
    page.set_head(3, 1026);
    CHECK_FALSE(is_decoded(page, 40));
  }
  SECTION("a first hash that is not where the head says") {
    page.set_head(1, 2);
    page.bytes()[16] = std::byte{0b001};
    CHECK(is_decoded(page, 40));
    page.bytes()[16] = std::byte{0b101};  // its low part, which begins at bit 2, is 1
    CHECK_FALSE(is_decoded(page, 40));
    page.bytes()[16] = std::byte{0b010};  // its high part is 1
    CHECK_FALSE(is_decoded(page, 40));
  }
  SECTION("more low bits than there is room for") {
    page.set_head(600, 600);
    page.set_ones(600);
    CHECK_FALSE(store_page_contains(page.bytes(), 60, 5));
    CHECK_FALSE(is_decoded(page, 60));
  }
  SECTION("more hashes than the head says") {
    page.set_head(1, 32576 - 63);
    page.set_ones(3);
    std::ranges::fill(page.bytes().last<8>(), std::byte{1});  // what would be the low bits of the second
    CHECK_FALSE(is_decoded(page, 63));
  }
  SECTION("more hashes than the head says, with their low bits far behind the page") {
    page.set_head(1, 32576 - 63);
    page.set_ones(32576 - 63);
    CHECK_FALSE(store_page_contains(page.bytes(), 63, KeyHash{1} << 62));
  }
  SECTION("more low bits than a hash may have") {
    page.set_head(1, 1);
    page.set_ones(1);
    CHECK(is_decoded(page, 63));
    CHECK_FALSE(is_decoded(page, 64));
    CHECK_FALSE(store_page_contains(page.bytes(), 64, 0));
  }
  SECTION("a hash that does not fit into 64 bits, and would be another") {
    page.set_head(2, 4);
    page.bytes()[16] = std::byte{0b1001};       // the second hash has high bits of 2, which is 2^64 in all
    page.bytes()[16 + 8] = std::byte{5 << 3U};  // and a low part of 5, at bit 4 + 63
    CHECK_FALSE(is_decoded(page, 63));
  }
}

TEST_CASE("a page that has a hash twice is refused, at every position and by every decoder") {
  const std::vector<KeyHash> hashes = random_hashes(100, 8, 0, KeyHash{100} << 34);
  for (const PageCoding coding : {PageCoding::fastest, PageCoding::one_by_one}) {
    for (std::size_t i = 1; i < hashes.size(); ++i) {
      std::vector<KeyHash> twice = hashes;
      twice[i] = twice[i - 1];
      Page page;
      encode_store_page(twice, 34, 0, page);
      std::vector<KeyHash> decoded;
      if (decode_store_page(page, 34, decoded, coding)) FAIL("hash " << i);
    }
  }
}

TEST_CASE("a page whose last hash would be greater than the greatest is refused, however it is decoded") {
  Page page;
  encode_store_page(std::vector<KeyHash>{0, 1, KeyHash{1} << 63}, 54, 0, page);
  for (const PageCoding coding : {PageCoding::fastest, PageCoding::one_by_one}) {
    std::vector<KeyHash> decoded;
    store_little_endian(page.data(), (KeyHash{1} << 63) - 1);  // from which on the others are counted
    CHECK(decode_store_page(page, 54, decoded, coding));
    CHECK(decoded.back() == kLargest);
    store_little_endian(page.data(), KeyHash{1} << 63);
    CHECK_FALSE(decode_store_page(page, 54, decoded, coding));
  }
}

TEST_CASE("arbitrary bytes are refused as a page, and a look-up in them stays inside") {
  std::mt19937_64 random(1);
  const std::vector<KeyHash> hashes = random_hashes(300, 6);
  for (int i = 0; i < 2000; ++i) {
    Page page;
    encode_store_page(hashes, 56, 0, page);
    for (int n = 0; n < 3; ++n) page[i % 2 == 0 ? random() % 16 : random() % page.size()] = std::byte(random() & 255);
    const auto low_bits = static_cast<unsigned>(i % 3 == 0 ? random() % 70 : 56);
    std::vector<KeyHash> decoded;
    if (decode_store_page(page, low_bits, decoded)) {
      CHECK(std::ranges::adjacent_find(decoded, std::greater_equal<>()) == decoded.end());
    } else {
      CHECK(decoded.empty());
    }
    store_page_contains(page, low_bits, random());
    store_page_contains(page, low_bits, hashes[150]);
  }
}

}  // namespace
}  // namespace bloomgate
