// Reads lists of addresses line by line, for `bloomgate build`, `query` and `verify`.
//
// Nothing that a file holds can exhaust memory: a line longer than the canonicaliser would look at is cut, with its
// rest skipped. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate::cli {

struct InputLine {
  const std::string& file;  // as given on the command line; "standard input" for `-`
  std::uint64_t number;     // from 1
  std::string_view text;    // without its line end; at most kMaxInputBytes + 1 bytes, valid during the call
};

// Calls `visit` for each line of each input in turn: a file, plain or compressed, a folder of them, or `-` for standard
// input. Throws what list_files() and TextBlocks throw.
void for_each_line(const std::vector<std::string>& inputs, const std::atomic<bool>& stop,
                   const std::function<void(const InputLine&)>& visit);

}  // namespace bloomgate::cli
