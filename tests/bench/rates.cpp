// False-positive rates, measured beside their theory:
//   bench_rates filter FILE PROBES THREADS   a filter file, with addresses that are in no list
//   bench_rates lecture ENTRIES PROBES       filters of 1 to 16 bits per entry with the best number of hashes
//   bench_rates classroom PROBES             58,110 words in arrays of exactly so many bits
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/bits.hpp"
#include "filter/layout/double_hashing.hpp"
#include "filter/layout/lookup_batch.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

// Distinct for distinct numbers and kinds.
std::string key_of(std::uint64_t number, std::string_view kind) {
  return std::to_string(number).append("@").append(kind).append(".invalid");
}

// How many of the keys with numbers in [first, last) are found.
std::uint64_t count_found(const FilterView& view, std::uint64_t first, std::uint64_t last, std::string_view kind) {
  LookupBatch batch(view);
  std::uint64_t found = 0;
  const auto test = [&] { batch.test([&](std::size_t, bool is_found) { found += is_found ? 1U : 0U; }); };
  for (std::uint64_t number = first; number < last; ++number) {
    batch.add(key_of(number, kind));
    if (batch.full()) test();
  }
  test();
  return found;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json rate_of_file(const std::string& path, std::uint64_t probes, unsigned threads) {
  const MappedFilter filter(path);
  const FilterHeader& header = filter.header();
  constexpr std::uint64_t kPiece = 1'000'000;
  std::atomic<std::uint64_t> found{0};
  for_each_parallel(threads, (probes + kPiece - 1) / kPiece, [&](std::size_t piece) {
    const std::uint64_t first = piece * kPiece;
    found += count_found(filter.view().without_sender_domains(), first, std::min(first + kPiece, probes), "no-member");
  });
  return {{"layout", layout_rules(header.shape.layout).name()},
          {"hashes", header.shape.hashes},
          {"entries", header.addresses},
          {"bits_per_entry",
           8.0 * static_cast<double>(filter.view().body().size()) / static_cast<double>(header.addresses)},
          {"probes", probes},
          {"measured", share(found, probes)},
          {"theory", expected_fpr(static_cast<double>(header.addresses), header.shape)}};
}

// A filter in memory of so many entries, as many again asked for.
Json rate_in_memory(Layout layout, std::uint64_t entries, double bits_per_entry, std::uint64_t probes) {
  const LayoutRules& rules = layout_rules(layout);
  FilterShape shape = {.layout = layout, .seed = 1};
  shape.hashes = best_hashes(bits_per_entry, layout, rules.default_block_bytes(1));
  shape.block_bytes = rules.default_block_bytes(shape.hashes);
  shape.block_count = blocks_for(entries, bits_per_entry, shape.block_bytes);
  std::vector<std::byte> body(shape.block_bytes * shape.block_count);
  for (std::uint64_t number = 0; number < entries; ++number) insert_key(shape, body, key_of(number, "member"));
  const FilterView view(shape, body);
  if (count_found(view, 0, entries, "member") != entries) throw std::runtime_error("a member is missing");
  return {{"hashes", shape.hashes},
          {"theory", expected_fpr(static_cast<double>(entries), shape)},
          {"measured", share(count_found(view, 0, probes, "no-member"), probes)}};
}

Json lecture(std::uint64_t entries, std::uint64_t probes) {
  Json rows = Json::array();
  for (const int bits : {1, 2, 3, 4, 5, 8, 16}) {
    rows.push_back({{"bits_per_entry", bits},
                    {"classic", rate_in_memory(Layout::classic, entries, bits, probes)},
                    {"page", rate_in_memory(Layout::page, entries, bits, probes)}});
  }
  return {{"entries", entries}, {"probes", probes}, {"rows", rows}};
}

// A word of so many syllables that numbers give distinct ones.
std::string word_of(std::uint64_t number) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz";
  constexpr std::string_view kVowels = "aeiou";
  std::string word;
  for (std::uint64_t rest = number + 1; rest != 0; rest /= kConsonants.size() * kVowels.size()) {
    const std::uint64_t syllable = rest % (kConsonants.size() * kVowels.size());
    word += kConsonants[syllable / kVowels.size()];
    word += kVowels[syllable % kVowels.size()];
  }
  return word;
}

// A textbook filter of any number of bits, which the layout classic, made of 64-bit words, does not have.
class ExactFilter {
 public:
  ExactFilter(std::uint64_t bits, std::uint32_t hashes, std::uint64_t seed)
      : bits_(bits), hashes_(hashes), seed_(seed), bytes_(bits / 8 + 1) {}

  void insert(std::string_view word) {
    DoubleHashing probes(hash_pair(word, seed_, HashFamily::xxh3));
    for (std::uint32_t i = 0; i < hashes_; ++i) set_bit(bytes_.data(), multiply_high(probes.next(), bits_));
  }
  bool may_contain(std::string_view word) const {
    DoubleHashing probes(hash_pair(word, seed_, HashFamily::xxh3));
    for (std::uint32_t i = 0; i < hashes_; ++i) {
      if (!has_bit(bytes_.data(), multiply_high(probes.next(), bits_))) return false;
    }
    return true;
  }

 private:
  std::uint64_t bits_;
  std::uint32_t hashes_;
  std::uint64_t seed_;
  std::vector<std::byte> bytes_;
};

Json classroom(std::uint64_t probes) {
  // 362,329 and 278,494 bits are just what n ln(1/p) / (ln 2)^2 gives for 5 and 10 % of so many words.
  constexpr std::uint64_t kWords = 58'110;
  constexpr std::uint64_t kSeeds = 10;
  struct Row {
    std::uint64_t bits;
    std::uint32_t hashes;
  };
  constexpr std::array<Row, 3> kRows = {{{555'888, 7}, {362'329, 5}, {278'494, 4}}};
  Json rows = Json::array();
  for (const Row& row : kRows) {
    std::uint64_t found = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      ExactFilter filter(row.bits, row.hashes, seed);
      for (std::uint64_t number = 0; number < kWords; ++number) filter.insert(word_of(number));
      for (std::uint64_t number = kWords; number < kWords + probes / kSeeds; ++number) {
        found += filter.may_contain(word_of(number)) ? 1U : 0U;
      }
    }
    rows.push_back({{"bits", row.bits},
                    {"hashes", row.hashes},
                    {"theory", classic_fpr(double{kWords}, static_cast<double>(row.bits), row.hashes)},
                    {"measured", share(found, probes / kSeeds * kSeeds)}});
  }
  return {{"words", kWords}, {"seeds", kSeeds}, {"probes", probes}, {"rows", rows}};
}

Json run(const std::vector<std::string>& arguments) {
  const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(std::stod(arguments.at(i))); };
  if (arguments.at(1) == "filter") {
    return rate_of_file(arguments.at(2), number(3), static_cast<unsigned>(number(4)));
  }
  if (arguments.at(1) == "lecture") return lecture(number(2), number(3));
  if (arguments.at(1) == "classroom") return classroom(number(2));
  throw std::runtime_error("usage: bench_rates filter FILE PROBES THREADS | lecture ENTRIES PROBES | classroom PROBES");
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  return bloomgate::bench::run_bench([&] { return bloomgate::bench::run(arguments); });
}
