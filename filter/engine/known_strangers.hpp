// The excluded senders of `bloomgate build --never-match`: addresses that a filter must not list, even if all their
// bits are set. Gathers them before the entries, finds those that are entries while the builder has the entries in
// memory, and afterwards those whose bits are all set. Used by FilterBuilder.
//
// An entry always takes precedence. An excluded sender counts as an entry if any value of any entry
// (LayoutRules::values_of) is the sender's first value. So no entry's own first value is ever excluded, also if two
// keys share it by chance.
//
// Call order: constructor, lane().add*, settle; then by the builder note_entries*, note_bits*, note_domains,
// end_notes; then the rest. start_again() returns to the state after settle(). An excluded sender takes some 16 bytes
// of memory, and 8 more for each probe in the layouts that have several values.
//
// If several processes make one filter, each may have only the excluded senders of a range of hashes, and note what its
// part of the filter says about them. A process that has all excluded senders gathers these notes and does the rest.
//
// Lanes are for worker threads: one thread at a time may use a lane, and different threads may use different lanes at
// once. note_entries() and the const functions are safe from any thread; everything else is for one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/file/file_format.hpp"
#include "filter/gather/hash_index.hpp"
#include "filter/gather/hash_partitions.hpp"
#include "filter/hash/hash_range.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

class KnownStrangers {
 public:
  class Lane {
   public:
    Lane(HashPartitions::Lane& marks, const FilterShape& shape, HashRange range)
        : marks_(&marks), shape_(shape), range_(range) {}

    // Adds the key of an address, or of a pair of addresses. A key outside of the range is dropped.
    void add(std::string_view key);
    // The worker calls this when it pauses or ends.
    void settle() noexcept { marks_->settle(); }

   private:
    friend class KnownStrangers;
    HashPartitions::Lane* marks_;
    FilterShape shape_;
    HashRange range_;
    std::vector<std::uint64_t> values_;  // of all excluded senders in sequence, in layouts with several values
  };

  // `shape` is that of the filter, except for the number of blocks. Only excluded senders with a first value in `range`
  // are kept. Throws BloomgateError{out_of_memory}.
  KnownStrangers(const FilterShape& shape, unsigned lanes, std::uint64_t memory_bytes, HashRange range = {});
  KnownStrangers(const KnownStrangers&) = delete;
  KnownStrangers& operator=(const KnownStrangers&) = delete;

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }

  // Whether each lane can take that many more. Safe from any thread.
  bool has_room_for(std::uint64_t strangers) const noexcept { return marks_.has_room_for(strangers); }

  // Call it when all excluded senders are added. Works with as many threads as there are lanes. Throws std::bad_alloc.
  void settle();

  // Forgets what was noted.
  void start_again();

  // Notes values of entries. Fast if they come partition by partition (HashPartitions).
  void note_entries(std::span<const std::uint64_t> values) noexcept;

  // Notes the bits of all entries in a part of the array, up to `end`. Each byte of the array is in one part. `shape`
  // is the filter's.
  void note_bits(const FilterShape& shape, ConstBodyPart part, std::uint64_t end);
  // The same in the calling thread alone, in layouts with one value for each entry. Several threads may call it at
  // once, for different parts. Each may note the entries of its part before.
  void note_bits_here(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) noexcept;

  // In layouts with one value for each entry: the first values within `range`, in ascending order, each once, and the
  // notes about each of them. Another process with the same values may add its own notes. Call settle() before.
  std::span<const std::uint64_t> values_in(HashRange range) const noexcept;
  std::span<std::uint8_t> notes_of(HashRange range) noexcept;

  // Notes the hashes of the domain entries, in ascending order, each once.
  void note_domains(std::vector<KeyHash> hashes) { domains_ = HashIndex(std::move(hashes)); }
  bool has_domains() const noexcept { return !domains_.hashes().empty(); }

  // Call it after the last note. Throws std::bad_alloc.
  void end_notes();

  // The entry that lists an excluded address or pair in spite of its exclusion; for a domain entry, whether it is an
  // entry. An address that a domain entry lists is counted, and so is a pair that a domain entry or a wider pair lists.
  // Safe from any thread.
  Match entry_of(EntryKind kind, std::string_view key) noexcept;

  KnownStrangerCounts counts() const noexcept;
  // The first values of those whose bits are all set and which are not entries, in ascending order, each once.
  std::vector<std::uint64_t> excluded() const;

 private:
  enum State : std::uint8_t { kEntry = 1, kByDomain = 2, kMissed = 4 };

  // Indices into the marks.
  struct Indices {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Indices marks_in(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) const noexcept;
  Indices marks_in(HashRange range) const noexcept;
  void note_marks(const FilterShape& shape, ConstBodyPart part, Indices marks) noexcept;
  void note_bits_of_marks(const FilterShape& shape, ConstBodyPart part, std::uint64_t end);
  void note_bits_of_values(const FilterShape& shape, ConstBodyPart part, std::uint64_t end);
  Match domain_match(EntryKind kind, std::string_view key) const noexcept;

  FilterShape shape_;
  const LayoutRules* rules_;
  std::uint32_t values_per_entry_;
  unsigned threads_;
  HashPartitions marks_;
  std::vector<Lane> lanes_;
  HashIndex index_;                   // of the first values
  std::vector<std::uint8_t> states_;  // of each of these
  HashIndex entries_;                 // those that are entries: usually few, so that their index is small
  // In layouts with several values: all excluded senders of all lanes, and whether one of their bits is not set.
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> missed_;
  HashIndex domains_;
};

}  // namespace bloomgate
