// What `bloomgate build` says at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "filter/cli/lists/reject_log.hpp"
#include "filter/cli/lists/stranger_lists.hpp"
#include "filter/file/file_format.hpp"

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

// On standard output, for a person, or for scripts. Throws std::filesystem::filesystem_error if the store is gone.
void print_text(const BuildReport& report);
void print_json(const BuildReport& report);

}  // namespace bloomgate::cli
