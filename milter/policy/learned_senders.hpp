// What a decision asks of that which was learned from outgoing mail: Learner (milter/learning) implements it, and
// --explain does, from the file. It is looked up in memory. Safe from any thread; what is learned or forgotten
// meanwhile may show at any moment.
#pragma once

#include <string_view>

namespace bloomgate {

class LearnedSenders {
 public:
  virtual ~LearnedSenders() = default;

  // Whether the user has written to the sender within the time that is kept. Both are keys of addresses, with case
  // folded; the user's is without a tag.
  virtual bool is_learned(std::string_view user, std::string_view sender) const noexcept = 0;

  // Whether any user has written to an address of that canonical domain within the time that is kept.
  virtual bool has_sender_domain(std::string_view domain) const noexcept = 0;
};

}  // namespace bloomgate
