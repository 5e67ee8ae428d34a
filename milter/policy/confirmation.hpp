// What a store says about an address that its whitelist's bits contain. decide() asks for it if a hit would deliver the
// message. The bits are wrong for one non-member in fifty; a store, for at most one in 10^9.
//
// Only addresses are confirmed. Domain entries are exact in the filter already (filter_view.hpp), so a store is not
// asked about them, although it keeps them for `bloomgate update-store`; a sender that a domain entry lists is
// delivered even if the store cannot be read.
//
// milter/lists gets the answers. Plain values; safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "filter/hash/hash.hpp"

namespace bloomgate {

// Only `yes` lists a sender. The names are stable: operators search logs for them.
enum class Confirmation : std::uint8_t {
  yes,
  no,       // the hit is a false positive
  timeout,  // the disk has not answered in time
  busy,     // too many messages already wait for the disk
  damaged,  // the page differs from what was written
  unreadable,
};

// "yes", "no", "timeout", "busy", "damaged", "unreadable". Never fails.
std::string_view confirmation_name(Confirmation confirmation) noexcept;

// A hash to look up in the store with that identity. The answer is valid as long as the store has that identity, even
// if the whitelists are replaced in between.
struct StoreQuestion {
  std::uint64_t store = 0;
  KeyHash hash = 0;

  friend bool operator==(const StoreQuestion&, const StoreQuestion&) = default;
};

struct StoreReply {
  StoreQuestion question;
  Confirmation confirmation = Confirmation::unreadable;
};

}  // namespace bloomgate
