// The lines of a block as entries, the usual lines by the fast path (plain_line.hpp). The inner loop of `bloomgate
// build`, `query` and `verify`, hence in a header. Safe from any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/plain_line.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/format.hpp"

namespace bloomgate {

// The shortest entry with its line end is `@a`.
inline constexpr std::uint64_t kMostEntriesOfBlock = (Block::kTextBytes + kMaxInputBytes) / 3 + 2;

inline bool has_tag(std::string_view address, TagSeparators separators) noexcept {
  const std::string_view local_part = address.substr(0, address.find('@'));
  return separators.untagged_bytes(local_part) != local_part.size();
}

inline bool pair_has_tag(std::string_view key, TagSeparators separators) noexcept {
  const PairSides sides = sides_of_pair(key);
  return has_tag(sides.sender, separators) || has_tag(sides.recipient, separators);
}

// Calls one of three functions for each line of a block of text; lines are counted from 1. `on_plain(kind, key,
// number)` gets the PlainKey of an address or of a pair of addresses, which is valid during the call; `on_entry(entry,
// number)` gets any other entry; `on_other(line, number, text)` gets a line that is not an entry. Returns the number of
// lines.
template <typename OnPlain, typename OnEntry, typename OnOther>
std::uint64_t for_each_text_entry(const Block& block, AddressProfile profile, OnPlain on_plain, OnEntry on_entry,
                                  OnOther on_other) {
  PlainLines plain;
  PlainPairLines plain_pairs;
  const char* at = block.text.data();
  const char* const end = at + block.text.size();
  std::uint64_t lines = 0;
  // A CR alone ends a line, too.
  const auto read_line = [&](std::string_view text) {
    do {
      const std::string_view line = take_line(text);
      const ListLine read = read_text_line(line, profile);
      ++lines;
      if (read.entry.is_key()) {
        on_entry(read.entry, lines);
      } else {
        on_other(read, lines, line);
      }
    } while (!text.empty());
  };
  while (at < end) {
    if (!profile.keep_local_part_case) {
      at = plain.read(at, end);
      for (const PlainKey& key : plain.keys()) {
        if (profile.tag_separators.none() || !has_tag(key.text(), profile.tag_separators)) {
          on_plain(EntryKind::address, key, ++lines);
        } else {
          read_line(key.text());  // a key is a spelling of its entry
        }
      }
      if (at == end) break;
      const char* const first_pair = at;
      at = plain_pairs.read(at, end);
      for (const PlainKey& key : plain_pairs.keys()) {
        if (profile.tag_separators.none() || !pair_has_tag(key.text(), profile.tag_separators)) {
          on_plain(EntryKind::pair, key, ++lines);
        } else {
          read_line(entry_text(key.text()));
        }
      }
      if (at != first_pair) continue;
    }
    // A line that is not plain, or the line where the fast path stopped: read_line() reads either.
    const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    const char* const line_end = found == nullptr ? end : static_cast<const char*>(found);
    read_line({at, static_cast<std::size_t>(line_end - at)});
    at = line_end + 1;
  }
  return lines;
}

// The same for any format.
template <typename OnPlain, typename OnEntry, typename OnOther>
std::uint64_t for_each_entry(const Block& block, const Format& format, AddressProfile profile, OnPlain on_plain,
                             OnEntry on_entry, OnOther on_other) {
  if (format.is_text()) return for_each_text_entry(block, profile, on_plain, on_entry, on_other);
  return for_each_line(block, format, profile, [&](const ListLine& line, std::uint64_t number, std::string_view text) {
    if (line.entry.is_key()) {
      on_entry(line.entry, number);
    } else {
      on_other(line, number, text);
    }
  });
}

}  // namespace bloomgate
