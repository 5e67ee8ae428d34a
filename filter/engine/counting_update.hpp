// From an old file of the layout counting and lists of changes to a new one: one pass over its counters, a part at a
// time, by several threads. Used by `bloomgate counting-add` and `counting-remove`, and by tests.
//
// If the old file has the domains of its senders, the new one has them, too, and those of added entries. Domains of
// removed entries stay, since other entries may have the same domains.
//
// Each entry counts once, however often the lists name it. An entry that is added twice, by two runs, must be removed
// twice. The same old file and changes give the same bytes, whatever the number of threads and the memory.
//
// Call order: constructor, (entries().lane().add | entries().flush)*, write. For one thread, except the lanes; see
// GatheredEntries. Memory: that for the changes, a part of the array, and some 16 bytes for each of a 256th part of the
// changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "filter/engine/body_writer.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/gather/gathered_entries.hpp"

namespace bloomgate {

enum class CountingChange : std::uint8_t { add, remove };

struct CountingCounts {
  std::uint64_t addresses = 0;  // added or removed
  std::uint64_t domains = 0;
  // Addresses that were added although the old file had them, or seemed to have them. These two cannot be told apart.
  std::uint64_t looked_present = 0;
  // Addresses that were removed, and whose counters are all still above 0: they were added more than once, or seem so.
  std::uint64_t still_listed = 0;
  std::uint64_t domains_there = 0;  // to be added, but there already
  // Addresses to be removed that have a counter of 0, and so are not there. This also happens if another entry of the
  // same lists has lowered that counter; then one of the two was not there.
  std::uint64_t addresses_not_there = 0;
  std::uint64_t domains_not_there = 0;

  friend bool operator==(const CountingCounts&, const CountingCounts&) = default;
};

class CountingUpdate {
 public:
  struct Options {
    unsigned threads = 1;                                  // at least 1; as many lanes
    std::uint64_t memory_bytes = std::uint64_t{16} << 20;  // for the changes; the excess goes to disk
    std::string scratch_folder = "/var/tmp";
    unsigned kept_generations = 0;  // see keep_generation()
  };

  // `old` is of the layout counting, and must outlive the update. Throws BloomgateError{bad_argument, out_of_memory}.
  CountingUpdate(const MappedFilter& old, CountingChange change, const Options& options);

  GatheredEntries& entries() noexcept { return entries_; }

  // Makes the new file, reads it back, checks it, and puts it at `path`, which may be that of the old one, as
  // FilterWriter does. Calls `review` before it publishes the file: if `review` throws, the update ends, and nothing is
  // changed. Throws BloomgateError{interrupted} if `stop` turned true, {changed_while_open}, and what FilterWriter
  // throws. Returns the header as written.
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress,
                     const std::function<void(const CountingCounts&)>& review);

  // Valid after write().
  const CountingCounts& counts() const noexcept { return counts_; }

  std::uint64_t spilled_bytes() const noexcept { return entries_.spilled_bytes(); }

 private:
  class SortedChanges;

  std::uint64_t unite_sender_domains();
  void write_counters(BodyWriter& writer, const std::atomic<bool>& stop);
  void change_piece(BodyPart piece, std::uint64_t bytes, std::span<const KeyHash> changes);
  void merge_domains(const std::function<void(std::span<const KeyHash>)>& use, CountingCounts& counts) const;

  const MappedFilter& old_;
  CountingChange change_;
  Options options_;
  FilterShape shape_;
  const LayoutRules* rules_;
  GatheredEntries entries_;
  std::mutex mutex_;  // for the counts, while several threads work
  CountingCounts counts_;
};

// Writes the filter of a counting one to `path` (see FilterWriter): the layout page, with a bit for each counter that
// is not 0. Unless a counter was saturated, the file equals, byte for byte, a build from the entries that it holds,
// each as often as it was added, with the same --expected-entries and seed. Signed with `key` if there is one. Throws
// BloomgateError{bad_argument}, and as CountingUpdate::write(). Returns the header as written.
FilterHeader export_filter(const MappedFilter& counting, const std::string& path, unsigned threads, unsigned kept,
                           const std::atomic<bool>& stop, WriteProgress& progress, const SecretKey* key = nullptr);

}  // namespace bloomgate
