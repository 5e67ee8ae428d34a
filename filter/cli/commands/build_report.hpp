// What `bloomgate build` says at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/cli/commands/build_arguments.hpp"
#include "filter/file/file_format.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/jobs/stranger_lists.hpp"

namespace bloomgate::cli {

struct BuildReport {
  std::string output;
  FilterHeader header;
  std::uint64_t rejected;
  std::uint64_t excepted;
  BroadCounts broad;
  StrangerReview strangers;
  std::uint64_t spilled_bytes;
  double seconds;

  std::string store_path;  // empty: there is none
  std::uint64_t store_bytes() const { return std::filesystem::file_size(store_path); }

  double entries_per_second() const { return static_cast<double>(entries_of(header)) / std::max(seconds, 1e-9); }
  double bits_per_entry() const {  // of an address; infinite if there are none
    return static_cast<double>(body_bytes(header.shape)) * 8 / static_cast<double>(header.addresses);
  }
};

// Why no filter is made of what was read, by --strict and LossLimits. Nothing: one is made.
std::optional<BloomgateError> refusal_of_lists(const BuildArguments& arguments, const LinesRead& read,
                                               std::uint64_t entries);

// What the domains of all addresses may take, said before the work where it is much. Empty where it is not, with
// --quiet, or where nobody knows how many addresses there are. `options` are those with which the filter is built.
std::string cost_of_sender_domains(const BuildArguments& arguments, const BuildOptions& options);

// The report on standard output, for a person or for scripts, and on standard error what is to be said of the size that
// was asked for. Throws std::filesystem::filesystem_error if the store is gone.
void print_report(const BuildArguments& arguments, const BuildReport& report);

}  // namespace bloomgate::cli
