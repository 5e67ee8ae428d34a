// The entries of a block of lines, looked up in a filter: the inner loop of `bloomgate query` and `verify`. Safe from
// any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "filter/ingest/entries.hpp"
#include "filter/layout/lookup_batch.hpp"

namespace bloomgate {

// An entry whose own key was looked up.
struct LookedUp {
  std::string_view key;  // valid during the call
  EntryKind kind = EntryKind::address;
  std::uint64_t line = 0;  // in its block, from 1
  bool found = false;
};

// Looks up each entry of the block by its own key and calls `on_entry(looked_up)` for it; calls `on_other(line, number,
// text)` for a line that is not an entry. Follows the order of the lines and returns their number.
template <typename OnEntry, typename OnOther>
std::uint64_t look_up_entries(const Block& block, const Format& format, const FilterView& view, OnEntry on_entry,
                              OnOther on_other) {
  LookupBatch batch(view);
  std::array<LookedUp, LookupBatch::kKeys> asked;
  std::array<char, LookupBatch::kKeys * kMaxEntryKeyBytes> keys;
  char* keys_end = keys.data();
  const auto answer = [&] {
    batch.test([&](std::size_t i, bool found) {
      asked[i].found = found;
      on_entry(std::as_const(asked[i]));
    });
    keys_end = keys.data();
  };
  const auto ask = [&](std::string_view key, EntryKind kind, std::uint64_t line) {
    asked[batch.size()] = {{keys_end, key.size()}, kind, line};
    keys_end += key.copy(keys_end, key.size());
    batch.add(key);
    if (batch.full()) answer();
  };
  const std::uint64_t lines = for_each_entry(
      block, format, view.shape().profile,
      [&](EntryKind kind, const PlainKey& key, std::uint64_t line) { ask(key.text(), kind, line); },
      [&](const Entry& entry, std::uint64_t line) {
        if (goes_into_bits(entry.kind())) return ask(entry.key(), entry.kind(), line);
        answer();
        on_entry(LookedUp{entry.key(), entry.kind(), line, view.contains_domain(entry.key())});
      },
      [&](const ListLine& other, std::uint64_t line, std::string_view text) {
        answer();
        on_other(other, line, text);
      });
  answer();
  return lines;
}

}  // namespace bloomgate
