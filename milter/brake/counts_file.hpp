// The file that stores the counts of senders while the daemon is not running: a header, then the bytes of each sender's
// counts. It holds hashes of senders, made with the file's own seed, and no addresses; a checksum covers all of it. It
// is for one kind of machine: a file with another byte order or another version is refused.
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

// Writes the counts to `path` in one step (Replacement). Omits senders that have sent nothing since `since`. Throws
// BloomgateError{cannot_write, not_permitted}, std::bad_alloc.
void write_counts(const std::string& path, const CountsOrigin& origin, const BusiestSenders& senders, HalfHours since);

// Reads the counts into `senders`, which must be empty. Omits senders whose time is after `now`. Returns nothing if
// there is no such file. Throws BloomgateError{cannot_open, cannot_read, not_a_regular_file, too_short, bad_magic,
// unsupported_version, wrong_size, bad_body_checksum}, std::bad_alloc.
std::optional<CountsOrigin> read_counts(const std::string& path, BusiestSenders& senders, HalfHours now);

}  // namespace bloomgate
