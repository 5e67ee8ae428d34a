#include "filter/cli/commands/loss_limits.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

void LossLimits::add_reading_to(po::options_description& options) {
  rejects.advice = "--allow-rejects takes the others all the same";
  options.add_options()("allow-rejects", po::bool_switch(&rejects.is_lifted),
                        "go on if more than a tenth of the lines is rejected");
}

void LossLimits::add_empty_to(po::options_description& options) {
  empty.advice = "If that is meant, give --allow-empty";
  options.add_options()("allow-empty", po::bool_switch(&empty.is_lifted), "go on if no entry would be left");
}

void LossLimits::add_shrink_to(po::options_description& options) {
  shrink.advice = "If that is meant, give --allow-shrink";
  options.add_options()("allow-shrink", po::bool_switch(&shrink.is_lifted),
                        "go on if less than half of the entries of the filter that is replaced are left");
}

}  // namespace bloomgate::cli
