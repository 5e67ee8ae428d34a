// `bloomgate merge`, `intersect` and `compare`: combine and compare filters without their lists.
#include <sysexits.h>

#include <cmath>
#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/parallel.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/combine_job.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

void print_combined(const std::string& path, const FilterHeader& header, Combination combination,
                    const std::optional<WrittenManifest>& written) {
  std::cout << "built     " << path << "\naddresses " << format_count(header.addresses)
            << (combination == Combination::unite ? " (duplicates counted)" : " (estimated from the fill)")
            << "\ndistinct  " << format_count(distinct_entries(header.bits_set, header.shape))
            << " (estimated from the fill)\ndomains   " << format_count(header.domains) << " domain entries\n"
            << (header.sender_domains ? "senders   " + sender_domains_text(header) + '\n' : "") << "size      "
            << format_bytes(file_bytes(header)) << '\n'
            << rates_lines(header);
  print_written("manifest  ", written);
}

void print_combined_json(const std::string& path, const FilterHeader& header, Combination /*either*/,
                         const std::optional<WrittenManifest>& written) {
  Json json = filter_json(path, header);
  json["distinct_entries"] = std::round(distinct_entries(header.bits_set, header.shape));
  json["manifest"] = written_json(written);
  print_report(json);
}

int run_combine(const Arguments& arguments, Combination combination, const HelpText& help) {
  CombineRequest request;
  request.combination = combination;
  FilterOptions options;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&request.output)->required()->value_name("FILE"),
       "where to put the result; it may be one of the filters")  //
      ("sign-key", po::value(&options.sign_key)->value_name("FILE"),
       "sign the result with the secret key in FILE, whatever key has signed the filters, and write the manifest, as "
       "'bloomgate sign' does");
  add_allow_empty(request.limits, visible);
  add_allow_shrink(request.limits, visible);
  add_quiet(options.quiet, visible);
  add_json(options.json, visible);
  const auto values = parse_command_line(arguments, visible, &request.filters, help);
  if (!values) return EX_OK;
  if (request.filters.size() < 2) throw UsageError("name at least two filters");
  options.read_into(request, *values);
  const auto show = [](std::string_view line) { std::cerr << line << '\n'; };
  const ManifestWriter manifest = manifest_writer(request, show);
  const FilterHeader combined = combine(request, show, stop_flag());
  const std::optional<WrittenManifest> written = manifest.write();
  if (options.reports())
    (options.json ? print_combined_json : print_combined)(request.output, combined, combination, written);
  return EX_OK;
}

void print_comparison(const Comparison& comparison, const std::vector<std::string>& paths) {
  const auto print = [](const std::string& where, double addresses, std::uint64_t domains) {
    std::cout << "in " << where << ": " << format_count(addresses)
              << word_for(addresses > 0.5 && addresses < 1.5 ? 1 : 2, " address, ", " addresses, ")
              << format_counted(domains, "domain entry", "domain entries") << '\n';
  };
  const Overlap& overlap = comparison.overlap;
  print(paths[0], overlap.a, overlap.domains_of_a);
  print(paths[1], overlap.b, overlap.domains_of_b);
  print("either", overlap.either, comparison.domains_of_either());
  print("both", overlap.both, overlap.domains_of_both);
  std::cout << (comparison.with_pairs
                    ? "(addresses and pairs of them are estimated from the fill; domain entries and pairs with one are "
                      "counted)\n"
                    : "(addresses are estimated from the fill, domain entries are counted)\n");
}

Json json_of(const Comparison& comparison) {
  const Overlap& overlap = comparison.overlap;
  return {{"a", overlap.a},
          {"b", overlap.b},
          {"either", overlap.either},
          {"both", overlap.both},
          {"domain_entries",
           {{"a", overlap.domains_of_a},
            {"b", overlap.domains_of_b},
            {"either", comparison.domains_of_either()},
            {"both", overlap.domains_of_both}}}};
}

}  // namespace

int run_merge(const Arguments& arguments) {
  return run_combine(
      arguments, Combination::unite,
      {.synopsis = "bloomgate merge --output FILE [OPTION...] FILTER FILTER...",
       .purpose = "Writes a filter that lists every address that any of the filters lists. It is as full as if\n"
                  "one of them had all entries. They must have the same layout, size, hashes, seed, case and tags.",
       .examples = "  bloomgate merge --output all.bloom customers.bloom partners.bloom\n"});
}

int run_intersect(const Arguments& arguments) {
  return run_combine(
      arguments, Combination::intersect,
      {.synopsis = "bloomgate intersect --output FILE [OPTION...] FILTER FILTER...",
       .purpose = "Writes a filter that lists every address that all of the filters list. They must have the\n"
                  "same layout, size, hashes, seed, case and tags.",
       .examples = "  bloomgate intersect --output both.bloom customers.bloom partners.bloom\n"});
}

int run_compare(const Arguments& arguments) {
  std::vector<std::string> paths;
  bool json = false;
  po::options_description visible("options");
  add_json(json, visible);
  const auto values =
      parse_command_line(arguments, visible, &paths,
                         {.synopsis = "bloomgate compare A B [--json]",
                          .purpose = "Estimates how many addresses two filters have in common, and counts the domain "
                                     "entries. They must have the same layout, size,\n"
                                     "hashes, seed, case and tags.",
                          .examples = "  bloomgate compare yesterday.bloom today.bloom\n"});
  if (!values) return EX_OK;
  if (paths.size() != 2) throw UsageError("name two filters");
  const Comparison comparison = compare_filters(paths[0], paths[1], default_threads());
  json ? print_report(json_of(comparison)) : print_comparison(comparison, paths);
  return EX_OK;
}

}  // namespace bloomgate::cli
