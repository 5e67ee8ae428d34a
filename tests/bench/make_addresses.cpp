// Writes a list of addresses as a large mail system would have them, for benchmarks and tests: `make_addresses COUNT
// [SEED [FIRST [USERS [DOMAINS]]]] > list`. It has the lines FIRST (0 unless given) to FIRST + COUNT - 1 of an endless
// list, of which no two entries are alike. If USERS is not 0, each line is a pair: a sender, and one of so many of our
// users. If DOMAINS is given, each address has one of so many domains, all equally frequent, or with `skewed:DOMAINS`
// each as frequent as one by its rank (the law of Zipf), or with `own` a domain that no other line has; otherwise it
// has one of twenty. The same arguments give the same lines.
//
// One in eight addresses has upper-case letters, one in eight a +tag; one in 256 has an international domain, one in
// 512 a quoted local part, and one line in 1,024 is bad.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace {

constexpr std::array<std::string_view, 16> kGivenNames = {"al",  "ann", "ben", "bo",  "eva", "ida",  "ines", "jo",
                                                          "jun", "kim", "lea", "max", "mia", "olga", "tom",  "zoe"};
constexpr std::array<std::string_view, 16> kProviders = {
    "a.example",    "b.example",    "go.example",  "io.example",  "pm.example", "web.example",
    "post.example", "example.com",  "example.org", "example.net", "mx.example", "uk.example",
    "mail.example", "corp.example", "uni.example", "news.example"};
constexpr std::array<std::string_view, 4> kInternational = {"m\u00fcller.example", "caf\u00e9.example.org",
                                                            "\u4f8b\u5b50.example", "xn--bcher-kva.example"};

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): one number of any index.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Numbers {
  std::uint64_t users = 0;    // 0: no pairs
  std::uint64_t domains = 0;  // 0: the twenty above
  bool has_own_domains = false;
  bool are_skewed = false;
};

// The index makes a line unlike all others: it stands in its local part, in base 36.
class Line {
 public:
  Line(std::uint64_t index, std::uint64_t seed, const Numbers& numbers) : random_(mix(index ^ mix(seed))) {
    const bool quoted = take(9) == 0;
    if (quoted) add("\"");
    add(kGivenNames[take(4)]);
    add(quoted ? " " : ".");
    add_number(index, 36);
    if (quoted) add("\"");
    if (take(3) == 0) add("+tag");
    const bool upper = take(3) == 0;
    const bool bad = take(10) == 0;
    add(bad ? "@@" : "@");
    add_domain(index, numbers);
    if (upper) text_.front() = static_cast<char>(text_.front() & ~(quoted ? 0 : 0x20));
    if (numbers.users != 0) {
      add(" > user");
      add_number(mix(index) % numbers.users, 10);
      add("@ours.example");
    }
    add("\n");
  }

  std::string_view text() const { return {text_.data(), static_cast<std::size_t>(at_ - text_.data())}; }

 private:
  // So many random bits.
  std::size_t take(unsigned bits) {
    const std::size_t value = random_ & ((std::uint64_t{1} << bits) - 1);
    random_ >>= bits;
    return value;
  }
  // The number's name looks like that of a company, and no two numbers have the same.
  void add_domain(std::uint64_t index, const Numbers& numbers) {
    const bool is_international = take(8) == 0;
    if (numbers.domains == 0 && !numbers.has_own_domains) {
      return add(is_international ? kInternational[take(2)] : kProviders[take(4)]);
    }
    add_number(numbers.has_own_domains ? index : domain_of(mix(~index), numbers), 36);
    add(is_international ? ".caf\u00e9.example" : ".example");
  }
  static std::uint64_t domain_of(std::uint64_t random, const Numbers& numbers) {
    if (!numbers.are_skewed) return random % numbers.domains;
    // The logarithm of a rank is even.
    const double share = static_cast<double>(random >> 11) * 0x1p-53;
    return static_cast<std::uint64_t>(std::pow(static_cast<double>(numbers.domains), share)) - 1;
  }
  void add_number(std::uint64_t number, int base) {
    at_ = std::to_chars(at_, text_.data() + text_.size(), number, base).ptr;
  }
  void add(std::string_view piece) { at_ += piece.copy(at_, piece.size()); }

  std::uint64_t random_;
  std::array<char, 128> text_;
  char* at_ = text_.data();
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 6) {
    std::cerr << "usage: make_addresses COUNT [SEED [FIRST [USERS [DOMAINS | skewed:DOMAINS | own]]]] > list\n";
    return 64;
  }
  const auto count = static_cast<std::uint64_t>(std::strtod(argv[1], nullptr));
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  Numbers numbers;
  if (argc > 4) numbers.users = std::strtoull(argv[4], nullptr, 10);
  if (argc > 5) {
    constexpr std::string_view kSkewed = "skewed:";
    const std::string_view domains = argv[5];
    numbers.has_own_domains = domains == "own";
    numbers.are_skewed = domains.starts_with(kSkewed);
    numbers.domains =
        static_cast<std::uint64_t>(std::strtod(argv[5] + (numbers.are_skewed ? kSkewed.size() : 0), nullptr));
  }
  std::string buffer;
  constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
  for (std::uint64_t index = first; index < first + count; ++index) {
    buffer += Line(index, seed, numbers).text();
    if (buffer.size() >= kFlushBytes || index + 1 == first + count) {
      std::cout.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      buffer.clear();
    }
  }
  return std::cout.flush() ? 0 : 74;
}
