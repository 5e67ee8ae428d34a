#include "filter/cli/commands/message_rates.hpp"

#include "filter/cli/numbers.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {

double fpr_of_sender(double fpr, bool has_pairs) {
  return has_pairs ? either_fpr(fpr) : fpr;
}

std::string message_rates_text(double fpr) {
  return format_rate(either_fpr(fpr)) + " where one of two different senders has to be listed (identity = either), " +
         format_rate(both_fpr(fpr)) + " where both have to be (identity = both)";
}

}  // namespace bloomgate::cli
