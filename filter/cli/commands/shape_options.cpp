#include "filter/cli/commands/shape_options.hpp"

#include <string>
#include <vector>

#include "filter/base/nearest_word.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/cli/numbers.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

// "page, line, classic or partitioned".
template <typename Values, typename NameOf>
std::string names_of(const Values& values, NameOf name_of) {
  std::string names;
  for (auto value = std::begin(values); value != std::end(values); ++value) {
    if (value != std::begin(values)) names += value + 1 == std::end(values) ? " or " : ", ";
    names += name_of(*value);
  }
  return names;
}

// Of the names, the one that may have been meant.
template <typename Values, typename NameOf>
std::string hint_of(const std::string& typed, const Values& values, NameOf name_of) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(name_of(value));
  return nearest_word_hint(typed, names);
}

}  // namespace

void ShapeOptions::add_layout_name_to(po::options_description& options, const std::string& by_default) {
  const std::string purpose =
      "where the bits of an entry lie: in one page of memory, in one cache line, anywhere (classic) or one in each of "
      "K "
      "slices (partitioned). ribbon: equations in place of bits, in one page, with a quarter of the false positives. "
      "counting: as page, in four times the space, for 'bloomgate counting-add'; not for layers and stores";
  options.add_options()(
      "layout", po::value(&layout)->default_value(layout)->value_name("page|line|classic|partitioned|ribbon|counting"),
      (by_default.empty() ? purpose : purpose + ' ' + by_default).c_str());
}

void ShapeOptions::add_layout_to(po::options_description& options, const std::string& by_default) {
  add_layout_name_to(options, by_default);
  options.add_options()(
      "block-bytes", po::value(&block_bytes)->value_name("B"),
      "size of a block: page and counting 4096 (default) to 1048576, line 64 (default) to 512, powers of two");
}

void ShapeOptions::add_hash_to(po::options_description& options) {
  options.add_options()("hash",
                        po::value(&hash_family)->default_value(hash_family)->value_name("xxh3|murmur3|fnv1a-murmur3"),
                        "hash family");
}

Layout ShapeOptions::chosen_layout() const {
  if (const Layout* const found = find_layout(layout)) return *found;
  const auto name = [](Layout each) { return layout_rules(each).name(); };
  throw UsageError("--layout takes " + names_of(kLayouts, name) + ", not '" + layout + "'" +
                   hint_of(layout, kLayouts, name));
}

std::optional<std::uint32_t> ShapeOptions::chosen_block_bytes() const {
  if (block_bytes.empty()) return std::nullopt;
  const LayoutRules& rules = layout_rules(chosen_layout());
  if (!rules.block_bytes_can_be_chosen()) {
    throw UsageError("--block-bytes does not go with --layout " + layout + ", where it is fixed");
  }
  const std::uint64_t bytes = parse_bytes(block_bytes, "--block-bytes");
  const std::uint32_t any_hashes = 1;
  if (bytes > UINT32_MAX || !rules.allows_block_bytes(static_cast<std::uint32_t>(bytes), any_hashes)) {
    throw UsageError("--block-bytes takes " + rules.block_bytes_rule(any_hashes) + " with --layout " + layout +
                     ", not '" + block_bytes + "'");
  }
  return static_cast<std::uint32_t>(bytes);
}

HashFamily ShapeOptions::chosen_hash_family() const {
  if (const auto found = find_hash_family(hash_family)) return *found;
  throw UsageError("--hash takes " + names_of(kHashFamilies, hash_family_name) + ", not '" + hash_family + "'" +
                   hint_of(hash_family, kHashFamilies, hash_family_name));
}

}  // namespace bloomgate::cli
