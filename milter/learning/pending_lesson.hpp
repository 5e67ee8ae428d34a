// What a message teaches, from the end of its header to its end. The body may show that a program has sent the message
// (has_automatic_part()). So this class keeps the first bytes of the body, if that is possible and the message would
// teach.
//
// One thread at a time. Legal order of calls: (begin add_body* (take | clear))*
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "milter/learning/outgoing.hpp"

namespace bloomgate {

class PendingLesson {
 public:
  // `content_type` is the message's; empty: none. If memory runs out here or later, the message teaches nothing.
  void begin(Lesson lesson, std::string_view content_type) noexcept;

  // The next bytes of the body. Returns whether more of it is needed.
  bool add_body(std::string_view bytes) noexcept;

  // What the message teaches; to be called at its end. If the body is needed but missing, the lesson is empty: the mail
  // server did not send the body, as in a session that began before learning was on.
  Lesson take() noexcept;

  void clear() noexcept;

 private:
  Lesson lesson_;
  std::string content_type_;
  std::string body_;  // the first bytes
  bool wants_body_ = false;
};

}  // namespace bloomgate
