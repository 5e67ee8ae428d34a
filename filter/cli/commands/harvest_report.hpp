// What `bloomgate harvest` says at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/owners.hpp"
#include "filter/contacts/source_files.hpp"

namespace bloomgate::cli {

// Of many names, so many are shown.
inline constexpr std::uint64_t kMostNamed = 20;

// Files of folders that gave nothing. Users go on meanwhile: they move and delete mail, and may have put anything
// there.
struct Skipped {
  std::uint64_t no_sources = 0;
  std::uint64_t vanished = 0;
  std::uint64_t unreadable = 0;  // to the end; each is named on standard error, up to kMostNamed
};

struct Written {
  std::uint64_t entries = 0;
  std::uint64_t mailing_lists = 0;  // among them
};

struct HarvestReport {
  std::string list;
  Written written;
  bool wants_lists;
  const SourceFiles& sources;
  const OwnerAddresses& addresses;
  Skipped skipped;
  HarvestCounts counts;
  std::vector<std::string> users_over_limit;
  std::uint64_t read_bytes;
  std::uint64_t spilled_bytes;
  double seconds;
};

void print_harvest(const HarvestReport& report);
void print_harvest_json(const HarvestReport& report);

}  // namespace bloomgate::cli
