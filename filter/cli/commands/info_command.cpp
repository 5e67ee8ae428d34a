// `bloomgate info`: shows what a filter file holds, from its header alone; and how much of it is in memory.
#include <fmt/format.h>
#include <sysexits.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <utility>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/generation_text.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/store/store_file.hpp"
#include "filter/system/residency.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

struct ShownInfo {
  bool as_json = false;
  bool residency = false;  // how much of the file is in memory, too
};

// "412.00 MiB (432,013,312 bytes), 43.2 %".
template <typename File>
void print_residency(const File& file, std::uint64_t size) {
  const auto resident = resident_bytes(file.descriptor(), size, file.path());
  std::cout << "in memory        ";
  if (resident) {
    std::cout << format_bytes(*resident) << ", "
              << format_rate(static_cast<double>(*resident) / static_cast<double>(size));
  } else {
    std::cout << "unknown: only a user who owns the file, or may write to it, can see this";
  }
  std::cout << '\n';
}

template <typename File>
void add_residency(Json& json, const File& file, std::uint64_t size) {
  const auto resident = resident_bytes(file.descriptor(), size, file.path());
  json["resident_bytes"] = resident ? Json(*resident) : Json(nullptr);
}

void print_kept(const std::string& path) {
  for (const Generation& kept : kept_generations(path)) {
    std::cout << "kept             " << generation_text(describe(kept.path)) << '\n';
  }
}

Json kept_json(const std::string& path) {
  Json kept = Json::array();
  for (const Generation& each : kept_generations(path)) {
    Json one = generation_json(describe(each.path));
    one["number"] = each.number;
    kept.push_back(std::move(one));
  }
  return kept;
}

double fill(const FilterHeader& header) {
  const double places = 8 * static_cast<double>(body_bytes(header.shape)) / bits_of_place(header.shape.layout);
  return static_cast<double>(header.bits_set) / places;
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

// "bits: 4,096 bytes at offset 4,096".
std::string section_text(const Section& section) {
  return std::string(section_name(section.kind)) + ": " + format_count(section.bytes) + " bytes at offset " +
         format_count(section.offset);
}

std::string identity_text(std::uint64_t identity) {
  return fmt::format("{:016x}", identity);
}

void print_info(const MappedFilter& filter, ShownInfo shown) {
  const FilterHeader& header = filter.header();
  const FilterShape& shape = header.shape;
  const double fpr = expected_fpr_of(header);
  const double of_sender = fpr_of_sender(header);
  const bool fill_tells = !std::isnan(distinct_entries_of(header));
  std::cout << "file             " << filter.path() << "\nformat           version " << kFormatVersion
            << "\nsize             " << format_bytes(file_bytes(header)) << "\nlayout           " << layout_text(shape)
            << "\nhash             " << hash_family_name(shape.hash_family) << ", seed " << format_seed(shape.seed)
            << "\nhashes           " << shape.hashes << "\nlocal parts      " << profile_text(shape.profile);
  for (const Section& section : filter.sections()) std::cout << "\nsection          " << section_text(section);
  if (header.store_identity != 0) std::cout << "\nstore            " << identity_text(header.store_identity);
  std::cout << "\nsized for        " << format_count(header.expected_entries) << " addresses\naddresses        "
            << format_count(header.addresses) << (header.kinds.pairs_in_bits != 0 ? " (pairs count, too)" : "");
  if (fill_tells) {
    std::cout << "\ndistinct         " << format_count(distinct_entries(header.bits_set, shape))
              << " (estimated from the fill)";
  }
  std::cout << "\ndomain entries   " << format_count(header.domains)
            << " (kept exactly; mailing lists and entries with a signer count, too)";
  if (header.kinds.any_pairs()) std::cout << "\npairs            " << pairs_text(header.kinds);
  if (header.kinds.signers) std::cout << "\nsigners          there are entries with signed-by, kept exactly";
  std::cout << "\nsender domains   " << sender_domains_text(header);
  if (header.strangers.known != 0) std::cout << "\nexcluded         " << known_strangers_text(header);
  if (layout_rules(shape.layout).has_counters()) {
    std::cout << "\nsaturated        " << format_count(header.saturated) << " of " << format_count(header.bits_set)
              << " counters in use";
  }
  std::cout << "\nfill             " << format_rate(fill(header)) << "\nFPR              " << format_rate(fpr)
            << " for a look-up (expected from the " << (fill_tells ? "fill" : "number of addresses") << ')'
            << scope_of_rate(header) << "\nmessages         " << message_rates_text(of_sender) << "\nfingerprint      "
            << fingerprint_of(filter);
  if (filter.signature()) {
    std::cout << "\nsigned by        " << filter.signature()->signer.text()
              << " (not checked; see verify --trusted-key)";
  }
  std::cout << "\nwritten          " << format_time(describe(filter.path()).written) << '\n';
  if (shown.residency) print_residency(filter, file_bytes(header));
  print_kept(resolve_link(filter.path()));
}

Json json_of(const Section& section) {
  return {{"kind", section_name(section.kind)},
          {"offset", section.offset},
          {"bytes", section.bytes},
          {"items", section.items}};
}

Json json_of(const MappedFilter& filter, ShownInfo shown) {
  const FilterHeader& header = filter.header();
  const FilterShape& shape = header.shape;
  const double distinct = distinct_entries_of(header);
  Json sections = Json::array();
  for (const Section& section : filter.sections()) sections.push_back(json_of(section));
  Json json = filter_json(filter.path(), header);
  json.update(Json{
      {"format_version", kFormatVersion},
      {"key_form", kKeyForm},
      {"body_bytes", body_bytes(shape)},
      {"sections", sections},
      {"layout", layout_rules(shape.layout).name()},
      {"block_bytes", shape.block_bytes},
      {"block_count", shape.block_count},
      {"hash_family", hash_family_name(shape.hash_family)},
      {"hashes", shape.hashes},
      {"keep_local_part_case", shape.profile.keep_local_part_case},
      {"tag_separators", shape.profile.tag_separators.text()},
      {"expected_entries", header.expected_entries},
      {"known_strangers", known_strangers_json(header)},
      {"distinct_entries", std::isfinite(distinct) ? Json(std::round(distinct)) : nullptr},
      {"bits_set", header.bits_set},
      {"saturated", layout_rules(shape.layout).has_counters() ? Json(header.saturated) : Json(nullptr)},
      {"fill", fill(header)},
      {"fingerprint", fingerprint_of(filter)},
      {"store_identity", header.store_identity != 0 ? Json(identity_text(header.store_identity)) : Json(nullptr)},
      {"signer", filter.signature() ? Json(filter.signature()->signer.text()) : Json(nullptr)},
      {"written", format_time(describe(filter.path()).written)},
      {"kept", kept_json(resolve_link(filter.path()))},
  });
  if (shown.residency) add_residency(json, filter, file_bytes(header));
  return json;
}

struct SumOfLayers {
  std::uint64_t entries = 0;
  std::uint64_t file_bytes = 0;
  double fpr = 0;        // of a look-up in all of them
  double of_sender = 0;  // alone, and with one recipient where layers hold pairs
};

SumOfLayers sum_of(const std::vector<std::unique_ptr<MappedFilter>>& layers) {
  SumOfLayers sum;
  std::vector<double> rates;
  std::vector<double> of_sender;
  for (const auto& layer : layers) {
    const FilterHeader& header = layer->header();
    sum.entries = saturating_sum(sum.entries, entries_of(header));
    sum.file_bytes = saturating_sum(sum.file_bytes, file_bytes(header));
    rates.push_back(expected_fpr_of(header));
    of_sender.push_back(fpr_of_sender(header));
  }
  sum.fpr = fpr_of_several(rates);
  sum.of_sender = fpr_of_several(of_sender);
  return sum;
}

void print_layers(const std::string& folder, ShownInfo shown) {
  std::vector<std::unique_ptr<MappedFilter>> layers;
  for (const Layer& each : usable_layers_in(folder)) layers.push_back(std::make_unique<MappedFilter>(each.path));
  const SumOfLayers sum = sum_of(layers);
  if (shown.as_json) {
    Json all = Json::array();
    for (const auto& layer : layers) all.push_back(json_of(*layer, shown));
    print_report(Json{{"folder", folder},
                      {"layers", std::move(all)},
                      {"entries", sum.entries},
                      {"file_bytes", sum.file_bytes},
                      {"fpr", sum.fpr},
                      {"fpr_either", either_fpr(sum.of_sender)},
                      {"fpr_both", sum.of_sender},
                      {"kept", kept_json(own_path_of(folder))},
                      {"manifest", manifest_json(folder)}});
    return;
  }
  for (const auto& layer : layers) {
    print_info(*layer, shown);
    std::cout << '\n';
  }
  std::cout << "folder           " << folder << "\nlayers           " << layers.size() << "\nentries          "
            << format_count(sum.entries) << " (duplicates counted)\nsize             " << format_bytes(sum.file_bytes)
            << "\nFPR              " << format_rate(sum.fpr) << " for a look-up in all layers\nmessages         "
            << message_rates_text(sum.of_sender) << '\n';
  print_kept(own_path_of(folder));
  print_manifest(folder);
}

double bytes_per_entry(const StoreFile& store) {
  return static_cast<double>(store.file_bytes()) / static_cast<double>(store.header().addresses);
}

void print_info(const StoreFile& store, ShownInfo shown) {
  const StoreHeader& header = store.header();
  std::cout << "store            " << store.path() << "\nformat           version " << kFormatVersion
            << "\nsize             " << format_bytes(store.file_bytes());
  if (header.addresses != 0) std::cout << ", " << format_decimal(bytes_per_entry(store), 2) << " bytes per address";
  std::cout << "\nhash             " << hash_family_name(header.shape.hash_family) << ", seed "
            << format_seed(header.shape.seed) << "\nlocal parts      " << profile_text(header.shape.profile);
  if (header.part.is_one()) {
    std::cout << "\npart             " << header.part.index << " of " << header.part.parts << ", counted from 0";
  }
  for (const Section& section : store.sections()) std::cout << "\nsection          " << section_text(section);
  std::cout << "\naddresses        " << format_count(header.addresses) << "\ndomain entries   "
            << format_count(header.domains);
  if (header.kinds.any_pairs()) std::cout << "\npairs            " << pairs_text(header.kinds);
  if (header.kinds.signers) std::cout << "\nsigners          there are entries with signed-by, kept exactly";
  std::cout << "\nsender domains   "
            << (header.knows_sender_domains()
                    ? format_count(header.sender_domains) + ", for the filters that are made from it"
                    : "none: the filters that are made from it are without them");
  std::cout << "\nidentity         " << identity_text(store.identity()) << "\nwritten          "
            << format_time(describe(store.path()).written) << '\n';
  if (shown.residency) print_residency(store, store.file_bytes());
}

void print_info_json(const StoreFile& store, ShownInfo shown) {
  const StoreHeader& header = store.header();
  Json sections = Json::array();
  for (const Section& section : store.sections()) sections.push_back(json_of(section));
  Json json = {
      {"store", store.path()},
      {"format_version", kFormatVersion},
      {"key_form", kKeyForm},
      {"file_bytes", store.file_bytes()},
      {"sections", sections},
      {"hash_family", hash_family_name(header.shape.hash_family)},
      {"seed", format_seed(header.shape.seed)},
      {"keep_local_part_case", header.shape.profile.keep_local_part_case},
      {"tag_separators", header.shape.profile.tag_separators.text()},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.kinds)},
      {"signers", header.kinds.signers},
      {"sender_domains", header.sender_domains},
      {"part", header.part.is_one() ? Json(header.part.index) : Json(nullptr)},
      {"parts", header.part.parts},
      {"identity", identity_text(store.identity())},
      {"written", format_time(describe(store.path()).written)},
  };
  if (shown.residency) add_residency(json, store, store.file_bytes());
  print_report(json);
}

}  // namespace

int run_info(const Arguments& arguments) {
  std::vector<std::string> operands;
  ShownInfo shown;
  po::options_description visible("options");
  add_json(shown.as_json, visible);
  visible.add_options()("residency", po::bool_switch(&shown.residency), "show how much of the file is in memory, too");
  const auto values =
      parse_command_line(arguments, visible, &operands,
                         {.synopsis = "bloomgate info FILE|FOLDER [--residency] [--json]",
                          .purpose = "Shows what a filter or a store holds, from its header; verify also reads the "
                                     "rest. For a folder of layers it shows each layer and the sum. If there is a "
                                     "manifest, it shows that, and whether each file agrees with it.",
                          .examples = "  bloomgate info /var/lib/bloomgate/whitelist.bloom\n"
                                      "  bloomgate info whitelist.bloom --json | jq .fpr\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  if (is_folder(path)) {
    print_layers(path, shown);
    return EX_OK;
  }
  if (is_store(path)) {
    const StoreFile store(path);
    shown.as_json ? print_info_json(store, shown) : print_info(store, shown);
  } else {
    const MappedFilter filter(path);
    if (shown.as_json) {
      Json json = json_of(filter, shown);
      json["manifest"] = manifest_json(path);
      print_report(json);
    } else {
      print_info(filter, shown);
      print_manifest(path);
    }
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
