#include "filter/cli/commands/update_report.hpp"

#include <filesystem>
#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/known_strangers_text.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

void print_update(const UpdateResult& report) {
  const FilterHeader& header = report.header;
  const UpdateCounts& counts = report.counts;
  const std::string& store = report.store_path;
  std::cout << "built     " << report.output << "\nstore     " << store << ", "
            << format_bytes(std::filesystem::file_size(store)) << '\n'
            << entries_text(header);
  std::cout << "\nadded     " << format_count(counts.added);
  if (counts.already_there != 0)
    std::cout << ", " << format_count(counts.already_there) << " others were there already";
  std::cout << "\nremoved   " << format_count(counts.removed);
  if (counts.not_there != 0) std::cout << ", " << format_count(counts.not_there) << " others were not there";
  if (counts.both != 0) {
    std::cout << "\nboth      " << format_count(counts.both)
              << " were to be added and to be removed, and are not listed";
  }
  const double fpr = expected_fpr_of(header);
  std::cout << "\nrejected  " << format_count(report.rejected);
  print_strangers(header, report.strangers);
  std::cout << "\nsize      " << format_bytes(file_bytes(header)) << "\nseed      " << format_seed(header.shape.seed)
            << "\nFPR       " << format_rate(fpr) << " for a look-up" << scope_of_rate(header) << "\nmessages  "
            << message_rates_text(fpr_of_sender(header)) << "\ntime      " << format_decimal(report.seconds, 2)
            << " s\n";
}

void print_update_json(const UpdateResult& report) {
  const FilterHeader& header = report.header;
  const std::string& store = report.store_path;
  const double fpr = expected_fpr_of(header);
  Json strangers = known_strangers_json(header);
  strangers["rejected"] = report.strangers.rejected;
  // Seeds are strings: many readers of JSON keep 53 bits of a number only.
  Json json = {
      {"file", report.output},
      {"store", store},
      {"entries", entries_of(header)},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.kinds)},
      {"signers", header.kinds.signers},
      {"added", report.counts.added},
      {"already_there", report.counts.already_there},
      {"removed", report.counts.removed},
      {"not_there", report.counts.not_there},
      {"both", report.counts.both},
      {"rejected", report.rejected},
      {"known_strangers", strangers},
      {"file_bytes", file_bytes(header)},
      {"store_bytes", std::filesystem::file_size(store)},
      {"seed", format_seed(header.shape.seed)},
      {"store_seed", format_seed(*header.shape.store_seed)},
      {"fpr", fpr},
      {"fpr_either", either_fpr(fpr_of_sender(header))},
      {"fpr_both", fpr_of_sender(header)},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
  };
  add_sender_domains(json, header);
  print_report(json);
}

}  // namespace

void print_report(const UpdateResult& report, bool json) {
  if (report.is_over_expected) {
    std::cerr << "warning: the store holds more addresses than expected, so the false-positive rate is higher\n";
  }
  (json ? print_update_json : print_update)(report);
}

}  // namespace bloomgate::cli
