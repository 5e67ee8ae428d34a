// The calculator of `bloomgate size`: calculates the rest from what is known of a filter. Pure functions.
//
// Entries, bits per entry and memory: any two give the third. Bits per entry, k and the false-positive rate: any two
// give the third; if only one is known, k is the best.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/layout/layout.hpp"

namespace bloomgate::cli {

struct SizeWishes {
  std::optional<std::uint64_t> entries = {};
  std::optional<double> bits_per_entry = {};
  std::optional<std::uint32_t> hashes = {};
  std::optional<double> fpr = {};
  std::optional<std::uint64_t> memory_bytes = {};  // of the file
  Layout layout = Layout::page;
  std::optional<std::uint32_t> block_bytes = {};
};

struct SizeChoice {
  std::optional<std::uint64_t> entries = {};  // nothing if nothing gives them: any large number
  double bits_per_entry = 0;
  FilterShape shape = {};
  double fpr = 0;

  // Nothing if the entries are not known. The file without the domains of the senders, and what these add at most: if
  // each entry has a domain of its own.
  std::optional<std::uint64_t> file_bytes() const;
  std::optional<std::uint64_t> most_sender_domain_bytes() const;
};

// The filter that was asked for: 8 bits per entry if only entries or memory are known. Throws UsageError if the wishes
// are too few or contradict each other, and BloomgateError{bad_argument, size_overflow} if there is no such filter.
SizeChoice choose_size(const SizeWishes& wishes);

// The same number of entries with that many bits each, and with the best k if none is given.
SizeChoice choice_at(const SizeWishes& wishes, std::optional<std::uint64_t> entries, double bits_per_entry,
                     std::optional<std::uint32_t> hashes);

}  // namespace bloomgate::cli
