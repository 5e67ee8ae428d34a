// What `bloomgate update` says at its end, and what it refuses.
#pragma once

#include <cstdint>

#include "filter/cli/commands/update_arguments.hpp"
#include "filter/engine/store_merge.hpp"
#include "filter/file/file_format.hpp"
#include "filter/jobs/stranger_lists.hpp"

namespace bloomgate::cli {

struct UpdateReport {
  const UpdateArguments& command;
  FilterHeader header;
  UpdateCounts counts;
  std::uint64_t rejected;  // of --add
  StrangerReview strangers;
  std::uint64_t spilled_bytes;
  double seconds;
};

// What was read of --add, and how many lines of --remove were rejected. Throws BloomgateError{bad_input} where that
// must not be.
void require_lines(const UpdateArguments& arguments, const LinesRead& added, std::uint64_t rejected_of_remove);

// Throws what LossLimits refuses: `old` is the store, `counts` what is to change.
void require_entries_left(const UpdateArguments& arguments, const StoreHeader& old, const UpdateCounts& counts);

// The report on standard output, for a person or for scripts, and on standard error what is to be said of the size that
// was asked for. Throws std::filesystem::filesystem_error if the store is gone.
void print_report(const UpdateReport& report);

}  // namespace bloomgate::cli
