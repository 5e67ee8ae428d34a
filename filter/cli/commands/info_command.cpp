// `bloomgate info`: shows what a filter file holds, from its header alone.
#include <sysexits.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "filter/cli/commands/commands.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

double fill(const FilterHeader& header) {
  return static_cast<double>(header.bits_set) / (8 * static_cast<double>(file_extent(header.shape).body_bytes));
}

std::string profile_text(const AddressProfile& profile) {
  const std::string text = profile.keep_local_part_case ? "case kept" : "case-folded";
  return profile.tag_separators.none() ? text : text + ", tags cut off at " + profile.tag_separators.text();
}

// "page: 244,141 blocks of 4,096 bytes".
std::string layout_text(const FilterShape& shape) {
  const LayoutRules& rules = layout_rules(shape.layout);
  const LayoutParts parts = rules.parts(shape);
  return std::string(rules.name()) + ": " + format_count(parts.count) + " " + std::string(parts.name) + " of " +
         format_count(parts.bytes) + " bytes";
}

void print_text(const std::string& path, const FilterHeader& header) {
  const FilterShape& shape = header.shape;
  const FileExtent extent = file_extent(shape);
  std::cout << "file             " << path << "\nformat           version " << kFormatVersion << "\nsize             "
            << format_bytes(extent.file_bytes) << "\nlayout           " << layout_text(shape) << "\nhash             "
            << hash_family_name(shape.hash_family) << ", seed " << format_seed(shape.seed) << "\nhashes           "
            << shape.hashes << "\nlocal parts      " << profile_text(shape.profile) << "\nholds            addresses"
            << (shape.has_domains ? ", @domain entries" : "") << (shape.has_domain_trees ? ", @.domain entries" : "")
            << "\nsized for        " << format_count(header.expected_entries) << " entries\nentries          "
            << format_count(header.entries) << "\ndistinct         "
            << format_count(distinct_entries(header.bits_set, shape)) << " (estimated from the fill)\nfill             "
            << format_rate(fill(header)) << "\nFPR              " << format_rate(fpr_from_fill(header.bits_set, shape))
            << " (expected from the fill)\n";
}

void print_json(const std::string& path, const FilterHeader& header) {
  const FilterShape& shape = header.shape;
  const FileExtent extent = file_extent(shape);
  const double distinct = distinct_entries(header.bits_set, shape);
  // The seed is a string: many readers of JSON keep 53 bits of a number only.
  nlohmann::ordered_json json = {
      {"file", path},
      {"format_version", kFormatVersion},
      {"file_bytes", extent.file_bytes},
      {"body_bytes", extent.body_bytes},
      {"layout", layout_rules(shape.layout).name()},
      {"block_bytes", shape.block_bytes},
      {"block_count", shape.block_count},
      {"hash_family", hash_family_name(shape.hash_family)},
      {"hashes", shape.hashes},
      {"seed", format_seed(shape.seed)},
      {"keep_local_part_case", shape.profile.keep_local_part_case},
      {"tag_separators", shape.profile.tag_separators.text()},
      {"has_domains", shape.has_domains},
      {"has_domain_trees", shape.has_domain_trees},
      {"expected_entries", header.expected_entries},
      {"entries", header.entries},
      {"distinct_entries", std::isfinite(distinct) ? nlohmann::ordered_json(std::round(distinct)) : nullptr},
      {"bits_set", header.bits_set},
      {"fill", fill(header)},
      {"fpr", fpr_from_fill(header.bits_set, shape)},
  };
  // A path need not be UTF-8; other bytes are replaced.
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace

int run_info(const Arguments& arguments) {
  std::vector<std::string> operands;
  bool json = false;
  po::options_description visible("options");
  visible.add_options()("json", po::bool_switch(&json), "print JSON, for scripts");
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate info FILE [--json]",
       .purpose = "Shows what a filter file holds, from its header; the bit array is not read (see verify).",
       .examples = "  bloomgate info /var/lib/bloomgate/whitelist.bloom\n"
                   "  bloomgate info whitelist.bloom --json | jq .fpr\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  const MappedFilter filter(path);
  (json ? print_json : print_text)(path, filter.header());
  return EX_OK;
}

}  // namespace bloomgate::cli
