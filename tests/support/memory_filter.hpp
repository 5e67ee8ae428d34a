// A small filter in memory, entry by entry, without a file.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/little_endian.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate::test {

// The bytes of a set of hashes, as SortedHashes reads them.
inline std::vector<std::byte> bytes_of_hashes(const std::set<KeyHash>& hashes) {
  std::vector<std::byte> bytes(hashes.size() * sizeof(KeyHash));
  std::byte* at = bytes.data();
  for (const KeyHash hash : hashes) {
    store_little_endian(at, hash);
    at += sizeof hash;
  }
  return bytes;
}

class MemoryFilter {
 public:
  explicit MemoryFilter(const FilterShape& shape) : shape_(shape), body_(body_bytes(shape)) {}

  void insert(const Entry& entry) {
    if (!entry.is_key()) throw std::logic_error("not an entry");
    if (goes_into_bits(entry.kind())) {
      insert_key(shape_, body_, entry.key());
      kinds_.pairs_in_bits += entry.is_pair() ? 1U : 0U;
    } else {
      kinds_.note_kept_exactly(entry.kind());
      hashes_.insert(hash_of_domain(shape_, entry.key()));
      domains_ = bytes_of_hashes(hashes_);
    }
  }

  // The line of a list.
  void insert(const std::string& line) { insert(canonicalize_list_line(line, shape_.profile)); }

  // Makes the key of an address an excluded sender, whether its bits are set or not.
  void exclude(std::string_view key) {
    std::array<std::uint64_t, kMaxHashes> values;
    layout_rules(shape_.layout).values_of(shape_, key, values.data());
    strangers_.insert(values[0]);
    excluded_ = bytes_of_hashes(strangers_);
  }

  // Valid until the next insertion.
  FilterView view() const noexcept { return {shape_, body_, SortedHashes(domains_), SortedHashes(excluded_), kinds_}; }

 private:
  FilterShape shape_;
  std::vector<std::byte> body_;
  KindsHeld kinds_;
  std::set<KeyHash> hashes_;
  std::vector<std::byte> domains_;
  std::set<KeyHash> strangers_;
  std::vector<std::byte> excluded_;
};

}  // namespace bloomgate::test
