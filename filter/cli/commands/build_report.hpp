// What `bloomgate build` and `update-store` say at their end.
#pragma once

#include "filter/jobs/build_job.hpp"
#include "filter/jobs/update_job.hpp"

namespace bloomgate::cli {

// The report on standard output, for a person or for scripts, and on standard error what is to be said of the size that
// was asked for. Throw std::filesystem::filesystem_error if the store is gone.
void print_report(const BuildResult& result, bool json);
void print_report(const UpdateResult& result, bool json);

}  // namespace bloomgate::cli
