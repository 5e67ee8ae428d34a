// Filter files for tests: built with the library under test, from a few entries or from many.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "filter/engine/builder.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate::test {

inline const std::atomic<bool> kNeverStop{false};

// Builds a filter of those list lines at `path`. Lines that are no entries are left out.
inline FilterHeader build_filter(const std::string& path, const std::vector<std::string>& lines,
                                 const BuildOptions& options = {.seed = 42}) {
  FilterBuilder builder(options);
  for (const std::string& line : lines) {
    const Entry entry = canonicalize_list_line(line, options.profile);
    if (entry.is_key()) builder.add(entry);
  }
  return builder.write(path, kNeverStop);
}

// "user<i>@example.org" for i in [first, first + count).
inline std::vector<std::string> numbered_addresses(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> addresses;
  addresses.reserve(count);
  for (std::uint64_t i = first; i < first + count; ++i)
    addresses.push_back("user" + std::to_string(i) + "@example.org");
  return addresses;
}

}  // namespace bloomgate::test
