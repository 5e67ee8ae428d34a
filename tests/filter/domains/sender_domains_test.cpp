// The section `sender-domains`: what is coded is found and nothing else, its bytes are those of FORMAT.md, and bytes
// that are not as the format has them are found out and never read past.
#include "filter/domains/sender_domains.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/domains/sender_domain.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/domains/sender_domains_encoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

using Numbers = std::vector<DomainNumber>;

constexpr DomainNumber kGreatest = (DomainNumber{1} << kDomainNumberBits) - 1;

std::vector<std::byte> coded(const Numbers& ascending, std::size_t chunk_bytes = 1 << 20) {
  CountOfDomains count;
  count.add(ascending);
  std::vector<std::byte> bytes;
  SenderDomainsEncoder encoder(count.count(), chunk_bytes, [&](std::span<const std::byte> chunk) {
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  });
  encoder.add(ascending);
  encoder.finish();
  return bytes;
}

Numbers random_numbers(std::uint64_t count, DomainNumber greatest, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::set<DomainNumber> numbers;
  while (numbers.size() < count) numbers.insert(random() % (greatest + 1));
  return {numbers.begin(), numbers.end()};
}

Numbers decoded(const SenderDomains& domains) {
  Numbers all;
  for (SenderDomainsCursor cursor(domains); cursor.peek(); cursor.advance()) all.push_back(*cursor.peek());
  return all;
}

bool is_sound(const SenderDomains& domains) {
  return domains.groups_are_sound(0, domains.coding().groups());
}

// So many domains to a bucket until there are `count`; the buckets one after the other, or with as many between them
// that the last ones are reached.
Numbers crowded_numbers(std::uint64_t count, std::uint64_t of_bucket, bool spread) {
  const DomainCoding coding(count);
  std::mt19937_64 random(5);
  std::set<DomainNumber> numbers;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bucket = i / of_bucket * (spread ? of_bucket : 1);
    while (!numbers.insert(bucket << coding.low_bits() | (random() & coding.low_mask())).second) {
    }
  }
  return {numbers.begin(), numbers.end()};
}

// As FORMAT.md codes them, but for its limit of the domains in a bucket: what a hostile file may hold.
std::vector<std::byte> coded_without_limit(const Numbers& ascending) {
  const DomainCoding coding(ascending.size());
  std::vector<bool> bits;
  std::vector<std::uint64_t> table;
  auto next = ascending.begin();
  for (std::uint64_t group = 0; group < coding.groups(); ++group) {
    table.push_back(static_cast<std::uint64_t>(next - ascending.begin()));
    const auto first = next;
    for (std::uint64_t bucket = 0; bucket < coding.buckets_of_group(); ++bucket, bits.push_back(false)) {
      const std::uint64_t number = group * DomainCoding::kBucketsOfGroup + bucket;
      for (; next != ascending.end() && coding.bucket_of(*next) == number; ++next) bits.push_back(true);
    }
    for (auto domain = first; domain != next; ++domain) {
      for (unsigned bit = 0; bit < coding.low_bits(); ++bit) bits.push_back((*domain >> bit & 1) != 0);
    }
  }
  std::vector<std::byte> bytes(coding.section_bytes());
  for (std::size_t bit = 0; bit < bits.size(); ++bit) {
    if (bits[bit]) bytes[bit / 8] |= std::byte{1} << bit % 8;
  }
  for (std::size_t group = 0; group < table.size(); ++group) {
    store_little_endian(&bytes[coding.group_bytes() + 8 * group], table[group]);
  }
  return bytes;
}

// All that reads a section, for a sanitizer to watch.
std::uint64_t read_all(const SenderDomains& domains) {
  const Numbers all = decoded(domains);
  std::uint64_t found = all.size() + (is_sound(domains) ? 1U : 0U);
  CHECK(std::ranges::all_of(all, [](DomainNumber number) { return number <= kGreatest; }));
  for (const DomainNumber number : all) domains.contains(number);
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) found += domains.contains(random() & kGreatest) ? 1U : 0U;
  for (const DomainNumber number : {DomainNumber{0}, kGreatest}) found += domains.contains(number) ? 1U : 0U;
  return found;
}

TEST_CASE("all domains of a section are found and no others, however many there are and wherever they lie") {
  // 256 buckets are a group; the number of buckets is the next power of two. The greatest count makes several groups.
  const std::uint64_t most = test::kIsSanitized ? 20'000 : 70'000;
  const auto count = GENERATE_COPY(as<std::uint64_t>(), 0, 1, 2, 3, 64, 255, 256, 257, 1000, most);
  // As hashes lie; as full as may be, in the first buckets and over all; one and the next number.
  const auto way = GENERATE(0, 1, 2, 3);
  CAPTURE(count, way);
  Numbers numbers = way == 0   ? random_numbers(count, kGreatest)
                    : way == 3 ? crowded_numbers(count, 7, true)
                               : crowded_numbers(count, DomainCoding::kMostOfBucket, way == 2);
  if (count > 2) {
    numbers.front() = 0;
    numbers.back() = kGreatest;
  }
  const std::vector<std::byte> bytes = coded(numbers);
  REQUIRE(bytes.size() == DomainCoding(count).section_bytes());
  const SenderDomains domains(bytes, count);
  CHECK(domains.is_there());
  CHECK(domains.size() == count);
  CHECK(is_sound(domains));
  CHECK((decoded(domains) == numbers));
  const std::set<DomainNumber> listed(numbers.begin(), numbers.end());
  std::mt19937_64 random(2);
  std::uint64_t wrong = 0;
  for (const DomainNumber number : numbers) {
    wrong += domains.contains(number) ? 0U : 1U;
    for (const DomainNumber near : {number - 1, number + 1, number ^ (random() & 0xFFFF)}) {
      wrong += near <= kGreatest && domains.contains(near) != listed.contains(near) ? 1U : 0U;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a section takes 4 bytes a domain for 10^9 domains, and at most 6 from 10^5 on") {
  struct Row {
    std::uint64_t domains;
    double bytes;
  };
  for (const Row& row : {Row{100'000, 5.71}, Row{5'000'000, 5.02}, Row{100'000'000, 4.46}, Row{1'000'000'000, 4.05}}) {
    CAPTURE(row.domains);
    const auto bytes = static_cast<double>(DomainCoding(row.domains).section_bytes());
    CHECK(bytes / static_cast<double>(row.domains) == Approx(row.bytes).margin(0.01));
  }
}

TEST_CASE("the bytes of a small section are those of FORMAT.md") {
  // Two buckets: each low part has 59 bits.
  const Numbers numbers = {5, kGreatest};
  const std::vector<std::byte> bytes = coded(numbers);
  // Bits 0 to 3: one domain, one domain. Then 5, then 59 ones; and the table of one group.
  std::vector<std::uint64_t> words;
  for (std::size_t at = 0; at < bytes.size(); at += 8) words.push_back(load_little_endian<std::uint64_t>(&bytes[at]));
  CHECK((words ==
         std::vector<std::uint64_t>{0b0101 | 5U << 4 | std::uint64_t{1} << 63, (std::uint64_t{1} << 58) - 1, 0}));
}

TEST_CASE("how domains are handed to the encoder, twice or in pieces, makes no difference to the bytes") {
  const Numbers numbers = random_numbers(5000, kGreatest);
  const std::vector<std::byte> want = coded(numbers);
  Numbers twice;
  for (const DomainNumber number : numbers) twice.insert(twice.end(), {number, number});
  CHECK((coded(twice) == want));
  CHECK((coded(numbers, 4096) == want));
}

TEST_CASE("the encoder refuses another number of domains than it was told, and counts them nevertheless") {
  for (const std::uint64_t told : {1U, 3U}) {
    SenderDomainsEncoder encoder(told, 4096, [](std::span<const std::byte>) {});
    encoder.add(Numbers{1, 2, 2});
    CHECK(encoder.count() == 2);
    CHECK_THROWS_AS(encoder.finish(), std::logic_error);
  }
}

TEST_CASE("the encoder refuses more domains of one bucket than a look-up reads, as only an attack can cause that") {
  constexpr std::uint64_t kMost = DomainCoding::kMostOfBucket;
  CHECK_NOTHROW(coded(crowded_numbers(1000, kMost, false)));
  try {
    coded(crowded_numbers(1000, kMost + 1, false));
    FAIL("was not refused");
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK_THAT(error.what(), Catch::Contains("another seed"));
    CHECK_THAT(error.what(), Catch::Contains("--no-sender-domains"));
  }
}

TEST_CASE("a file with a crowded bucket is refused, and read no further than the limit before that") {
  constexpr std::uint64_t kMost = DomainCoding::kMostOfBucket;
  SECTION("one domain too many") {
    const Numbers numbers = crowded_numbers(1000, kMost + 1, false);
    const std::vector<std::byte> bytes = coded_without_limit(numbers);
    const SenderDomains domains(bytes, numbers.size());
    CHECK(!is_sound(domains));
    CHECK(domains.contains(numbers[kMost - 1]));
    CHECK(!domains.contains(numbers[kMost]));
    CHECK(domains.contains(numbers[kMost + 1]));  // of the next bucket
  }
  SECTION("as many as a bucket may have: sound, and the same bytes as the encoder's") {
    const Numbers numbers = crowded_numbers(1000, kMost, true);
    CHECK((coded_without_limit(numbers) == coded(numbers)));
  }
  SECTION("all domains of a long list in one bucket") {
    const Numbers numbers = crowded_numbers(70'000, 70'000, false);
    const std::vector<std::byte> bytes = coded_without_limit(numbers);
    const SenderDomains domains(bytes, numbers.size());
    CHECK(!is_sound(domains));
    CHECK(decoded(domains).empty());
    // A walk through the bucket for each of these would take minutes.
    CHECK(std::ranges::none_of(numbers, [&](DomainNumber number) { return domains.contains(number); }));
  }
}

TEST_CASE("each fault of a section is found out") {
  const Numbers numbers = random_numbers(600, kGreatest);  // 1024 buckets, four groups
  const std::vector<std::byte> good = coded(numbers);
  const DomainCoding coding(numbers.size());
  const auto is_sound_after = [&](std::size_t byte, std::uint8_t flip) {
    std::vector<std::byte> bytes = good;
    bytes[byte] ^= std::byte{flip};
    return is_sound(SenderDomains(bytes, numbers.size()));
  };
  CHECK(is_sound(SenderDomains(good, numbers.size())));
  SECTION("a number in the table of the groups") {
    for (std::size_t byte = coding.group_bytes(); byte < good.size(); ++byte) {
      CAPTURE(byte);
      CHECK(!is_sound_after(byte, 1));
      CHECK(!is_sound_after(byte, 0x80));
    }
  }
  SECTION("a bit that says how many domains a bucket has") {
    for (std::size_t byte = 0; byte < 32; ++byte) {  // of the first group
      CAPTURE(byte);
      CHECK(!is_sound_after(byte, 0x10));
    }
  }
  SECTION("a bit behind the last group") {
    REQUIRE(coding.group_bits() % 64 != 0);
    CHECK(!is_sound_after(coding.group_bytes() - 1, 0x80));
  }
  SECTION("a domain twice, or two that are turned round") {
    const Numbers pair = {4, 6};  // in the first of two buckets, so that their low bits lie behind four bits
    const std::vector<std::byte> two = coded(pair);
    for (const std::uint64_t second : {std::uint64_t{4}, std::uint64_t{2}}) {
      std::vector<std::byte> bytes = two;
      // 59 bits of 4 from bit 4 on, and then those of 6 from bit 63 on.
      const std::uint64_t first_word = 0b0011 | std::uint64_t{4} << 4 | second << 63;
      store_little_endian(bytes.data(), first_word);
      store_little_endian(bytes.data() + 8, second >> 1);
      CAPTURE(second);
      CHECK(!is_sound(SenderDomains(bytes, 2)));
    }
  }
  SECTION("a domain behind the last bucket, whose number would have more than 60 bits") {
    std::vector<std::byte> bytes = coded({5, kGreatest});
    bytes[0] = std::byte{0b1001} | (bytes[0] & std::byte{0xF0});  // one domain, none, and one behind the last zero
    CHECK(!is_sound(SenderDomains(bytes, 2)));
    read_all(SenderDomains(bytes, 2));
  }
  SECTION("all zeros, as of a page that is missing") {
    const std::vector<std::byte> zeros(good.size());
    CHECK(!is_sound(SenderDomains(zeros, numbers.size())));
    CHECK(read_all(SenderDomains(zeros, numbers.size())) == 0);
  }
}

TEST_CASE("reading a section with one bit changed, or of random bytes, stays within it") {
  std::mt19937_64 random(4);
  for (const std::uint64_t count : {1U, 3U, 300U}) {
    const std::vector<std::byte> good = coded(random_numbers(count, kGreatest));
    for (std::size_t byte = 0; byte < good.size(); byte += test::kIsSanitized ? 1 : 3) {
      std::vector<std::byte> bytes = good;
      bytes[byte] ^= std::byte{static_cast<std::uint8_t>(1U << random() % 8)};
      read_all(SenderDomains(bytes, count));
    }
    for (int i = 0; i < 100; ++i) {
      std::vector<std::byte> bytes(good.size());
      for (std::byte& byte : bytes) byte = std::byte{static_cast<std::uint8_t>(random())};
      CHECK(read_all(SenderDomains(bytes, count)) <= 2 * count + 203);  // two groups may claim all
    }
  }
}

TEST_CASE("the domain of a sender is the part after its last at sign, that of a pair is its sender's") {
  struct Row {
    std::string_view key;
    std::string_view domain;
  };
  for (const Row& row :
       {Row{"joe@example.org", "@example.org"}, Row{"a@b", "@b"}, Row{"\"a@b\"@example.org", "@example.org"},
        Row{"joe@[192.0.2.1]", "@[192.0.2.1]"}, Row{"info@xn--mller-kva.example", "@xn--mller-kva.example"},
        Row{"joe@mail.example.org", "@mail.example.org"}, Row{"joe@example.org\nann@ours.example", "@example.org"},
        Row{"\"a@b\"@example.org\n\"c@d\"@ours.example", "@example.org"}}) {
    CAPTURE(row.key);
    CHECK(sender_domain_of(row.key) == row.domain);
  }
}

}  // namespace
}  // namespace bloomgate
