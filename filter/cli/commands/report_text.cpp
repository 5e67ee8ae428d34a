#include "filter/cli/commands/report_text.hpp"

#include <cmath>
#include <iostream>

#include "filter/base/number_text.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

// The bits of an entry are all set.
std::uint64_t hits_of(const FilterHeader& header) noexcept {
  return header.excluded + header.strangers.entries;
}

}  // namespace

std::string pairs_text(const KindsHeld& kinds) {
  if (kinds.pairs_in_bits == 0) return "only with a domain, kept exactly";
  return "up to " + format_count(kinds.pairs_in_bits) + " in the bits" +
         (kinds.domain_pairs ? ", and others with a domain, kept exactly" : "");
}

Json pairs_json(const KindsHeld& kinds) {
  return {{"in_bits", kinds.pairs_in_bits}, {"with_domains", kinds.domain_pairs}};
}

std::string entries_text(const FilterHeader& header) {
  std::string text = "entries   " + format_count(entries_of(header));
  if (header.domains != 0)
    text += "\ndomains   " + format_count(header.domains) +
            " of them, kept exactly; mailing lists and entries with a signer count, too";
  if (header.kinds.any_pairs()) text += "\npairs     " + pairs_text(header.kinds);
  if (header.kinds.signers) text += "\nsigners   there are entries with signed-by, kept exactly";
  if (header.sender_domains) text += "\nsenders   " + sender_domains_text(header);
  return text;
}

std::string sender_domains_text(const FilterHeader& header) {
  if (!header.sender_domains) {
    return header.addresses == 0 ? "none" : "none: at any domain an address may be found by chance";
  }
  return "at " + format_counted(*header.sender_domains, "domain", "domains") + ", " +
         format_bytes(DomainCoding(*header.sender_domains).section_bytes()) +
         "; at any other domain no address is found by chance";
}

double fpr_of_sender(const FilterHeader& header) {
  const double fpr = expected_fpr_of(header);
  return header.kinds.pairs_in_bits != 0 ? either_fpr(fpr) : fpr;
}

double fpr_at_other_domain(const FilterHeader& header) {
  const double fpr = expected_fpr_of(header);
  if (!header.sender_domains) return fpr;
  return fpr * std::ldexp(static_cast<double>(*header.sender_domains), -static_cast<int>(kDomainNumberBits));
}

std::string scope_of_rate(const FilterHeader& header) {
  return header.sender_domains ? ", at the domains of its senders only" : "";
}

std::string message_rates_text(double of_sender) {
  return format_rate(either_fpr(of_sender)) + " for a message with identity = either, " + format_rate(of_sender) +
         " with identity = both";
}

std::string rates_lines(const FilterHeader& header) {
  return "FPR       " + format_rate(expected_fpr_of(header)) + " for a look-up (expected from the fill)" +
         scope_of_rate(header) + "\nmessages  " + message_rates_text(fpr_of_sender(header)) + '\n';
}

void print_strangers(const FilterHeader& header, const StrangerReview& review) {
  if (header.strangers.known != 0) std::cout << "\nexcluded  " << known_strangers_text(header);
  if (review.rejected != 0) {
    std::cout << "\nno entry  " << format_counted(review.rejected, "line", "lines") << " of the lists of --never-match";
  }
}

std::string known_strangers_text(const FilterHeader& header) {
  std::string text = format_counted(header.strangers.known, "sender", "senders") + "; " +
                     format_counted(hits_of(header), "hits", "hit") + " the bits: " + format_count(header.excluded) +
                     " kept out, " + format_counted(header.strangers.entries, "entry", "entries");
  if (header.strangers.by_domain != 0)
    text += "; " + format_count(header.strangers.by_domain) + " listed by their domains";
  return text;
}

Json known_strangers_json(const FilterHeader& header) {
  return {{"known", header.strangers.known},
          {"hits", hits_of(header)},
          {"excluded", header.excluded},
          {"entries", header.strangers.entries},
          {"by_domain", header.strangers.by_domain}};
}

Json filter_json(const std::string& path, const FilterHeader& header) {
  const auto& domains = header.sender_domains;
  return {
      {"file", path},
      {"entries", entries_of(header)},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.kinds)},
      {"signers", header.kinds.signers},
      {"file_bytes", file_bytes(header)},
      {"seed", format_seed(header.shape.seed)},
      {"fpr", expected_fpr_of(header)},
      {"fpr_either", either_fpr(fpr_of_sender(header))},
      {"fpr_both", fpr_of_sender(header)},
      {"sender_domains", domains ? Json(*domains) : Json(nullptr)},
      {"sender_domains_bytes", domains ? Json(DomainCoding(*domains).section_bytes()) : Json(nullptr)},
      {"fpr_other_domain", fpr_at_other_domain(header)},
  };
}

void print_report(const Json& json) {
  std::cout << json.dump(2) << '\n';
}

}  // namespace bloomgate::cli
