#include "filter/cli/commands/kept_output.hpp"

#include "filter/cli/command_line.hpp"
#include "filter/keep/generations.hpp"

namespace bloomgate::cli {

unsigned checked_keep(unsigned keep) {
  if (keep <= kMostGenerations) return keep;
  throw UsageError("--keep takes a number from 0 to " + std::to_string(kMostGenerations));
}

}  // namespace bloomgate::cli
