// The header fields of a message that claim to be a spam checker's result: every field whose name begins with X-Spam,
// in any case. They are counted by name, since a mail server numbers the fields of each name separately. They are
// removed from a message that is checked. One connection's callbacks fill it; used by one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

class SpamFields {
 public:
  struct Name {
    std::string name;  // as it came first, without space after it
    int count = 0;
  };

  static bool is_one(std::string_view name) noexcept;

  // Counts one more of that name, which is_one(). Throws std::bad_alloc; the object then acts as with too many names.
  void add(std::string_view name);

  // In the order in which they came first.
  std::span<const Name> names() const noexcept { return names_; }

  // There were more names than are kept, so not all of the fields can be removed. No honest message has that many.
  bool too_many() const noexcept { return too_many_; }

  void clear() noexcept;

 private:
  static constexpr std::size_t kMaxNames = 200;
  static constexpr std::size_t kMaxNameBytes = 1000;

  std::vector<Name> names_;
  bool too_many_ = false;
};

}  // namespace bloomgate
