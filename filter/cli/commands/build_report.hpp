// What `bloomgate build` and `update-store` say at their end.
#pragma once

#include <string_view>

#include "filter/jobs/build_job.hpp"
#include "filter/jobs/update_job.hpp"

namespace bloomgate::cli {

// Warns on standard error, also with --quiet, if a filter has more addresses than its size was for. `holder` is "the
// lists hold" or the like.
void warn_of_rate(const FilterResult& result, std::string_view holder);

// The report on standard output, for a person or for scripts. Throw std::filesystem::filesystem_error if the store is
// gone.
void print_report(const BuildResult& result, bool json);
void print_report(const UpdateResult& result, bool json);

}  // namespace bloomgate::cli
