#include "filter/cli/commands/message_rates.hpp"

#include <cmath>

#include "filter/base/number_text.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {

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
  return format_rate(either_fpr(of_sender)) +
         " where one of two different senders has to be listed (identity = either), " + format_rate(of_sender) +
         " where both have to be, since an attacker uses one address (identity = both)";
}

std::string rates_lines(const FilterHeader& header) {
  return "FPR       " + format_rate(expected_fpr_of(header)) + " for a look-up (expected from the fill)" +
         scope_of_rate(header) + "\nmessages  " + message_rates_text(fpr_of_sender(header)) + '\n';
}

}  // namespace bloomgate::cli
