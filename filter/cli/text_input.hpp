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

// Calls `visit` for each line of each input in turn; `-` is standard input. Throws BloomgateError: cannot_open and
// cannot_read with the input's name, bad_argument for a folder, and interrupted soon after `stop` turned true.
void for_each_line(const std::vector<std::string>& inputs, const std::atomic<bool>& stop,
                   const std::function<void(const InputLine&)>& visit);

}  // namespace bloomgate::cli
