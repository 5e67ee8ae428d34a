// A piece of a list in whole lines; workers get it from Blocks. A value; used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bloomgate {

struct Block {
  static constexpr std::size_t kTextBytes = std::size_t{1} << 18;  // small enough to stay in a core's own cache

  std::size_t input = 0;           // the number of the input
  std::uint64_t index = 0;         // the number of the block in that input, or in this share of it, from 0
  bool is_of_later_share = false;  // of an input whose start another process reads
  std::uint64_t turn = 0;          // the number of the block among all that were handed out, from 0
  std::string_view text;      // whole lines, about kTextBytes of them; the last one of an input may lack its line end.
                              // PlainLines::kReadable more bytes after it may be read.
  std::vector<char> storage;  // what `text` points into; kept from block to block

  bool starts_list() const noexcept { return index == 0 && !is_of_later_share; }
};

}  // namespace bloomgate
