// What a message teaches, from the end of its header to its end. A multipart may turn out to be an answer to an
// invitation, which a program has sent: so this keeps the first bytes of its body, and of no message that teaches
// nothing anyhow.
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

  // The next bytes of the body. Returns whether more of it is wanted.
  bool add_body(std::string_view bytes) noexcept;

  // At the end of the message: what it teaches. A multipart without a body teaches nothing: the mail server did not
  // send it, as in a session that began before learning was on.
  Lesson take() noexcept;

  void clear() noexcept;

 private:
  Lesson lesson_;
  std::string content_type_;
  std::string body_;  // the first bytes
  bool wants_body_ = false;
};

}  // namespace bloomgate
