// The section `sender-domains`: what is coded is found and nothing else, its bytes are those of FORMAT.md, and bytes
// that are not as the format has them are found out and never read past.
#include "filter/domains/sender_domains.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

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

// All that reads a section, for a sanitizer to watch.
std::uint64_t read_all(const SenderDomains& domains) {
  std::uint64_t found = decoded(domains).size() + (is_sound(domains) ? 1U : 0U);
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) found += domains.contains(random() & kGreatest) ? 1U : 0U;
  for (const DomainNumber number : {DomainNumber{0}, kGreatest}) found += domains.contains(number) ? 1U : 0U;
  return found;
}

TEST_CASE("all domains of a section are found and no others, however many there are and wherever they lie") {
  // 256 buckets are a group; the number of buckets is the next power of two.
  // Several groups. Where all are in one bucket, each look-up walks through it.
  const std::uint64_t most = test::kIsSanitized ? 3000 : 20'000;
  const auto count = GENERATE_COPY(as<std::uint64_t>(), 0, 1, 2, 3, 64, 255, 256, 257, 1000, most);
  // In few of the buckets, in some, in all.
  const DomainNumber greatest = GENERATE_COPY(DomainNumber{most} - 1, DomainNumber{1} << 40, kGreatest);
  CAPTURE(count, greatest);
  Numbers numbers = random_numbers(count, greatest);
  if (count > 2) numbers.back() = kGreatest;
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
    for (const DomainNumber near : {number - 1, number + 1, random() % (greatest + 1)}) {
      wrong += near <= kGreatest && domains.contains(near) != listed.contains(near) ? 1U : 0U;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a section takes 4 bytes a domain where there are 10^9, and at most 6 from 10^5 on") {
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

TEST_CASE("the encoder refuses another number of domains than it was told") {
  SenderDomainsEncoder encoder(3, 4096, [](std::span<const std::byte>) {});
  const Numbers two = {1, 2};
  encoder.add(two);
  CHECK_THROWS_AS(encoder.finish(), std::logic_error);
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

TEST_CASE("the domain of a sender is what stands behind its last at sign, that of a pair is its sender's") {
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
