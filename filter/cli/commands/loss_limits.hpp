// The options that lift the limits of what may get lost (filter/jobs/loss_limits.hpp).
#pragma once

#include <boost/program_options.hpp>

#include "filter/jobs/loss_limits.hpp"

namespace bloomgate::cli {

struct LossLimits : bloomgate::LossLimits {
  // Each its option, stored in here by the parser.
  void add_reading_to(boost::program_options::options_description& options);
  void add_empty_to(boost::program_options::options_description& options);
  void add_shrink_to(boost::program_options::options_description& options);
};

}  // namespace bloomgate::cli
