// The keys that libopendkim can find: those that we have looked up for it. Its hooks are not told which message they
// are called for. So each thread holds the keys of the message that it is finishing.
#pragma once

#include <string>
#include <vector>

#include "milter/dkim/opendkim.hpp"

namespace bloomgate {

struct FoundKey {
  std::string name;
  std::string record;
};

// While this object lives, libopendkim calls of the calling thread find these keys and no others. `keys` must outlive
// it.
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
