// The option --keep.
#pragma once

#include "filter/jobs/kept_output.hpp"

namespace bloomgate::cli {

// The argument, if it is a number of generations. Throws UsageError that names the option --keep.
unsigned checked_keep(unsigned keep);

}  // namespace bloomgate::cli
