// What `bloomgate update` says at its end.
#pragma once

#include "filter/jobs/update_plan.hpp"

namespace bloomgate::cli {

// The report on standard output, for a person or for scripts, and on standard error what is to be said of the size that
// was asked for. Throws std::filesystem::filesystem_error if the store is gone.
void print_report(const UpdateResult& report, bool json);

}  // namespace bloomgate::cli
