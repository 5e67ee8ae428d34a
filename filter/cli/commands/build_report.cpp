#include "filter/cli/commands/build_report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

double entries_per_second(const BuildResult& report) {
  return static_cast<double>(entries_of(report.header)) / std::max(report.seconds, 1e-9);
}

// Of an address; infinite if there are none.
double bits_per_entry(const BuildResult& report) {
  return static_cast<double>(body_bytes(report.header.shape)) * 8 / static_cast<double>(report.header.addresses);
}

void print_build(const BuildResult& report) {
  const FilterHeader& header = report.header;
  std::cout << "built     " << report.output << '\n' << entries_text(header);
  std::cout << "\nrejected  " << format_count(report.rejected);
  if (report.excepted != 0)
    std::cout << "\nexcepted  " << format_counted(report.excepted, "entry", "entries") << " left out";
  if (report.broad.sum() != 0) {
    const auto print_if_any = [](std::uint64_t count, const char* one, const char* several) {
      if (count != 0) std::cout << ", " << format_counted(count, one, several);
    };
    std::cout << "\nbroad     for anyone: "
              << format_counted(report.broad.of(Breadth::public_suffix), "public suffix", "public suffixes") << ", "
              << format_counted(report.broad.of(Breadth::free_mail), "free-mail domain", "free-mail domains");
    print_if_any(report.broad.of(Breadth::list_without_signer), "mailing list without its signer",
                 "mailing lists without their signer");
    print_if_any(report.broad.shared_signers(), "shared signer", "shared signers");
    print_if_any(report.broad.of(Breadth::dotless), "domain without a dot", "domains without a dot");
  }
  print_strangers(header, report.strangers);
  const double fpr = expected_fpr_of(header);
  const bool fill_tells = !std::isnan(distinct_entries_of(header));
  if (fill_tells) {
    std::cout << "\ndistinct  " << format_count(distinct_entries_of(header)) << " (estimated from the fill)";
  }
  std::cout << "\nsize      " << format_bytes(file_bytes(header));
  if (header.addresses != 0)
    std::cout << ", " << format_ratio(bits_per_entry(report)) << " bits per entry"
              << (header.shape.block_count == 1 ? " (the smallest file)" : "");
  std::cout << "\nseed      " << format_seed(header.shape.seed) << "\nFPR       " << format_rate(fpr)
            << " for a look-up (expected from the " << (fill_tells ? "fill" : "number of addresses") << ')'
            << scope_of_rate(header) << "\nmessages  " << message_rates_text(fpr_of_sender(header)) << '\n';
  if (!report.store_path.empty()) {
    std::cout << "store     " << report.store_path << ", "
              << format_bytes(std::filesystem::file_size(report.store_path)) << ", seed "
              << format_seed(*header.shape.store_seed) << '\n';
  }
  print_written("manifest  ", report.manifest);
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s, " << format_count(entries_per_second(report))
            << " entries per second\n";
}

// What is told of a filter from lists, and of one from a store.
Json json_of(const FilterResult& report) {
  Json strangers = known_strangers_json(report.header);
  strangers["rejected"] = report.strangers.rejected;
  Json json = filter_json(report.output, report.header);
  json.update(Json{{"rejected", report.rejected},
                   {"known_strangers", strangers},
                   {"manifest", written_json(report.manifest)},
                   {"spilled_bytes", report.spilled_bytes},
                   {"seconds", report.seconds}});
  return json;
}

void print_build_json(const BuildResult& report) {
  const FilterHeader& header = report.header;
  const double distinct = distinct_entries_of(header);
  Json json = json_of(report);
  json.update(Json{
      {"excepted", report.excepted},
      {"public_suffixes", report.broad.of(Breadth::public_suffix)},
      {"free_mail_domains", report.broad.of(Breadth::free_mail)},
      {"lists_without_signer", report.broad.of(Breadth::list_without_signer)},
      {"shared_signers", report.broad.shared_signers()},
      {"dotless_domains", report.broad.of(Breadth::dotless)},
      {"distinct_entries", std::isfinite(distinct) ? Json(std::round(distinct)) : Json(nullptr)},
      {"bits_per_entry", header.addresses != 0 ? Json(bits_per_entry(report)) : Json(nullptr)},
      {"store", report.store_path.empty() ? Json(nullptr) : Json(report.store_path)},
      {"store_seed", header.shape.store_seed ? Json(format_seed(*header.shape.store_seed)) : Json(nullptr)},
      {"store_bytes", report.store_path.empty() ? Json(nullptr) : Json(std::filesystem::file_size(report.store_path))},
      {"entries_per_second", std::round(entries_per_second(report))},
  });
  print_report(json);
}

void print_update(const UpdateResult& report) {
  const FilterHeader& header = report.header;
  const UpdateCounts& counts = report.counts;
  const std::string& store = report.store_path;
  std::cout << "built     " << report.output << "\nstore     " << store << ", "
            << format_bytes(std::filesystem::file_size(store)) << '\n'
            << entries_text(header);
  std::cout << "\nadded     " << format_count(counts.added);
  if (counts.already_there != 0)
    std::cout << ", " << format_counted(counts.already_there, "other was", "others were") << " there already";
  std::cout << "\nremoved   " << format_count(counts.removed);
  if (counts.not_there != 0)
    std::cout << ", " << format_counted(counts.not_there, "other was", "others were") << " not there";
  if (counts.both != 0) {
    std::cout << "\nboth      " << format_counted(counts.both, "was", "were") << " to be added and to be removed, and "
              << word_for(counts.both, "is", "are") << " not listed";
  }
  const double fpr = expected_fpr_of(header);
  std::cout << "\nrejected  " << format_count(report.rejected);
  print_strangers(header, report.strangers);
  std::cout << "\nsize      " << format_bytes(file_bytes(header)) << "\nseed      " << format_seed(header.shape.seed)
            << "\nFPR       " << format_rate(fpr) << " for a look-up" << scope_of_rate(header) << "\nmessages  "
            << message_rates_text(fpr_of_sender(header)) << '\n';
  print_written("manifest  ", report.manifest);
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s\n";
}

void print_update_json(const UpdateResult& report) {
  Json json = json_of(report);
  json.update(Json{
      {"store", report.store_path},
      {"added", report.counts.added},
      {"already_there", report.counts.already_there},
      {"removed", report.counts.removed},
      {"not_there", report.counts.not_there},
      {"both", report.counts.both},
      {"store_bytes", std::filesystem::file_size(report.store_path)},
      {"store_seed", format_seed(*report.header.shape.store_seed)},
  });
  print_report(json);
}

}  // namespace

void warn_of_rate(const FilterResult& result, std::string_view holder) {
  if (!result.is_over_expected) return;
  std::cerr << "warning: " << holder << " more addresses than expected, so the false-positive rate is higher: "
            << format_rate(expected_fpr_of(result.header)) << '\n';
}

void print_report(const BuildResult& report, bool json) {
  (json ? print_build_json : print_build)(report);
}

void print_report(const UpdateResult& report, bool json) {
  (json ? print_update_json : print_update)(report);
}

}  // namespace bloomgate::cli
