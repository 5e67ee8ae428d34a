// Filters that change: entries on their way into counters, and into a filter with its store.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "filter/engine/counting_update.hpp"
#include "filter/engine/store_update.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate::test {

// Lines of a list.
inline void add_to(GatheredEntries& entries, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (!entries.has_room_for(1)) {
      entries.lane(0).settle();
      entries.flush();
    }
    entries.lane(0).add(canonicalize_list_line(line, {}));
  }
  entries.lane(0).settle();
}

// Changes the counting filter at `path` in its place.
inline FilterHeader change_counters(const std::string& path, CountingChange kind,
                                    const std::vector<std::string>& lines) {
  const MappedFilter old(path);
  CountingUpdate update(old, kind, {});
  add_to(update.entries(), lines);
  WriteProgress unseen;
  return update.write(path, kNeverStop, unseen, [](const CountingCounts&) {});
}

// The filter `to` and its store `to`.store, from the store `from`.store.
inline FilterHeader update_pair(const std::string& from, const std::string& to, BuildOptions options,
                                const std::vector<std::string>& added, const std::vector<std::string>& removed) {
  const StoreFile old(from + ".store");
  options.store_path = to + ".store";
  StoreUpdate update(old, StoreUpdate::options_for(old, std::move(options)));
  add_to(update.added(), added);
  add_to(update.removed(), removed);
  update.count(kNeverStop);
  WriteProgress unseen;
  return update.write(to, kNeverStop, unseen);
}

}  // namespace bloomgate::test
