#include "filter/cli/commands/build_report.hpp"

#include <cmath>
#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/known_strangers_text.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

void print_build(const BuildReport& report) {
  const FilterHeader& header = report.header;
  std::cout << "built     " << report.output << '\n' << entries_text(header);
  std::cout << "\nrejected  " << format_count(report.rejected);
  if (report.excepted != 0) std::cout << "\nexcepted  " << format_count(report.excepted) << " entries left out";
  if (report.broad.sum() != 0) {
    std::cout << "\nbroad     " << format_count(report.broad.public_suffixes) << " public suffixes, "
              << format_count(report.broad.free_mail_domains) << " free-mail domains";
    if (report.broad.lists_without_signer != 0) {
      std::cout << ", " << format_count(report.broad.lists_without_signer) << " mailing lists without their signer";
    }
    if (report.broad.shared_signers != 0) {
      std::cout << ", " << format_count(report.broad.shared_signers) << " shared signers";
    }
    if (report.broad.dotless_domains != 0) {
      std::cout << ", " << format_count(report.broad.dotless_domains) << " domains without a dot";
    }
  }
  print_strangers(header, report.strangers);
  const double fpr = expected_fpr_of(header);
  const bool fill_tells = !std::isnan(distinct_entries_of(header));
  if (fill_tells) {
    std::cout << "\ndistinct  " << format_count(distinct_entries_of(header)) << " (estimated from the fill)";
  }
  std::cout << "\nsize      " << format_bytes(file_bytes(header));
  if (header.addresses != 0) std::cout << ", " << format_decimal(report.bits_per_entry(), 2) << " bits per entry";
  std::cout << "\nseed      " << format_seed(header.shape.seed) << "\nFPR       " << format_rate(fpr)
            << " for a look-up (expected from the " << (fill_tells ? "fill" : "number of addresses") << ')'
            << scope_of_rate(header) << "\nmessages  " << message_rates_text(fpr_of_sender(header)) << '\n';
  if (!report.store_path.empty()) {
    std::cout << "store     " << report.store_path << ", " << format_bytes(report.store_bytes()) << ", seed "
              << format_seed(*header.shape.store_seed) << '\n';
  }
  if (report.spilled_bytes != 0) {
    std::cout << "spilled   " << format_bytes(report.spilled_bytes) << " to disk, for lack of memory\n";
  }
  std::cout << "time      " << format_decimal(report.seconds, 2) << " s, " << format_count(report.entries_per_second())
            << " entries per second\n";
}

void print_build_json(const BuildReport& report) {
  const FilterHeader& header = report.header;
  const double distinct = distinct_entries_of(header);
  const double fpr = expected_fpr_of(header);
  Json strangers = known_strangers_json(header);
  strangers["rejected"] = report.strangers.rejected;
  // The seed is a string: many readers of JSON keep 53 bits of a number only.
  Json json = {
      {"file", report.output},
      {"entries", entries_of(header)},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.kinds)},
      {"signers", header.kinds.signers},
      {"rejected", report.rejected},
      {"excepted", report.excepted},
      {"public_suffixes", report.broad.public_suffixes},
      {"free_mail_domains", report.broad.free_mail_domains},
      {"lists_without_signer", report.broad.lists_without_signer},
      {"shared_signers", report.broad.shared_signers},
      {"dotless_domains", report.broad.dotless_domains},
      {"known_strangers", strangers},
      {"distinct_entries", std::isfinite(distinct) ? Json(std::round(distinct)) : Json(nullptr)},
      {"file_bytes", file_bytes(header)},
      {"bits_per_entry", header.addresses != 0 ? Json(report.bits_per_entry()) : Json(nullptr)},
      {"seed", format_seed(header.shape.seed)},
      {"fpr", fpr},
      {"fpr_either", either_fpr(fpr_of_sender(header))},
      {"fpr_both", fpr_of_sender(header)},
      {"store", report.store_path.empty() ? Json(nullptr) : Json(report.store_path)},
      {"store_seed", header.shape.store_seed ? Json(format_seed(*header.shape.store_seed)) : Json(nullptr)},
      {"store_bytes", report.store_path.empty() ? Json(nullptr) : Json(report.store_bytes())},
      {"spilled_bytes", report.spilled_bytes},
      {"seconds", report.seconds},
      {"entries_per_second", std::round(report.entries_per_second())},
  };
  add_sender_domains(json, header);
  print_report(json);
}

}  // namespace

std::optional<BloomgateError> refusal_of_lists(const BuildArguments& arguments, const LinesRead& read,
                                               std::uint64_t entries) {
  if (arguments.strict && read.rejected != 0) {
    return BloomgateError(ErrorCode::bad_input, format_count(read.rejected) +
                                                    " lines were rejected and --strict was given; no filter was built");
  }
  if (auto refusal = arguments.limits.refusal_of(read)) return refusal;
  return arguments.limits.refusal_of(entries, arguments.replaced());
}

std::string cost_of_sender_domains(const BuildArguments& arguments, const BuildOptions& options) {
  constexpr std::uint64_t kMuch = std::uint64_t{256} << 20;
  if (arguments.quiet || !options.sender_domains || !options.expected_entries) return {};
  const std::uint64_t domains = std::min(*options.expected_entries, kMostSenderDomains);
  const std::uint64_t most = DomainCoding(domains).section_bytes();
  if (most < kMuch) return {};
  const std::string of_store =
      options.store_path.empty() ? "" : " and " + format_bytes(domains * sizeof(KeyHash)) + " of the store";
  return "the domains of all addresses take up to " + format_bytes(most) + " of the filter" + of_store +
         ", if each address has one of its own; --no-sender-domains leaves them out";
}

void print_report(const BuildArguments& arguments, const BuildReport& report) {
  if (arguments.options.expected_entries && report.header.addresses > report.header.expected_entries) {
    std::cerr << "warning: the lists hold more addresses than expected, so the false-positive rate is higher\n";
  }
  (arguments.json ? print_build_json : print_build)(report);
}

}  // namespace bloomgate::cli
