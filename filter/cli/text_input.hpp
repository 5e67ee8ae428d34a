// Reads lists in order, for `bloomgate query` and `verify`. Nothing that a file holds can exhaust memory. Not
// thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "filter/address.hpp"

namespace bloomgate::cli {

struct InputEntry {
  const std::string& file;  // as given on the command line or found in a folder; "standard input" for `-`
  std::uint64_t number;     // of its line, from 1
  const Entry& entry;       // valid during the call
};

// Calls `visit` for each line of each input in turn: a file, plain or compressed, a folder of them, or `-` for standard
// input, in the format of that name. Throws what list_files(), make_list_format() and TextBlocks throw.
void for_each_entry(const std::vector<std::string>& inputs, const std::string& format_name, AddressProfile profile,
                    const std::atomic<bool>& stop, const std::function<void(const InputEntry&)>& visit);

}  // namespace bloomgate::cli
