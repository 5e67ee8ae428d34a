// The keys that libopendkim finds: those that we have looked up for it. Its hooks are told of no message, so the keys
// of the message that a thread finishes are at hand in that thread.
#pragma once

#include <string>
#include <vector>

#include "milter/dkim/opendkim.hpp"

namespace bloomgate {

struct FoundKey {
  std::string name;
  std::string record;
};

// While it lives, the calling thread's library calls find these keys, and no others. `keys` must outlive it.
class KeysAtHand {
 public:
  explicit KeysAtHand(const std::vector<FoundKey>& keys) noexcept;
  ~KeysAtHand();
  KeysAtHand(const KeysAtHand&) = delete;
  KeysAtHand& operator=(const KeysAtHand&) = delete;
};

// Makes the library ask us instead of a name server.
void use_keys_at_hand(DKIM_LIB* library) noexcept;

}  // namespace bloomgate
