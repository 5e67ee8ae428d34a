// The file in which the counts of senders outlive the daemon: a header, then the bytes of each. It holds hashes of
// senders, by a seed of its own, and no address; all of it has a checksum. It is of one kind of machine: another byte
// order, or another version, is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "milter/brake/busiest_senders.hpp"

namespace bloomgate {

struct CountsOrigin {
  std::uint64_t seed = 0;  // of the hashes
  HalfHours began = 0;     // when the first sender was counted
};

// Puts the counts at `path`, in one step (Replacement). Of senders who have sent nothing since `since` none is kept.
// Throws BloomgateError{cannot_write, not_permitted}, std::bad_alloc.
void write_counts(const std::string& path, const CountsOrigin& origin, const BusiestSenders& senders, HalfHours since);

// Reads them into `senders`, which is empty. One with a time past `now` is left out. Nothing: there is no such file.
// Throws BloomgateError{cannot_open, cannot_read, not_a_regular_file, too_short,
// bad_magic, unsupported_version, wrong_size, bad_body_checksum}, std::bad_alloc.
std::optional<CountsOrigin> read_counts(const std::string& path, BusiestSenders& senders, HalfHours now);

}  // namespace bloomgate
