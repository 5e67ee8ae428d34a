// What `bloomgate build` says at its end.
#pragma once

#include "filter/jobs/build_plan.hpp"

namespace bloomgate::cli {

// The report on standard output, for a person or for scripts, and on standard error what is to be said of the size that
// was asked for. Throws std::filesystem::filesystem_error if the store is gone.
void print_report(const BuildResult& result, bool json);

}  // namespace bloomgate::cli
