// What one connection of the mail server has told about the message that is under way: the facts that decide() needs,
// and how many X-Bloomgate fields came with it. One object serves all messages of a connection, one after the other.
//
// Filled by callbacks.cpp; knows nothing of libmilter. Used by one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "milter/policy/decide.hpp"

namespace bloomgate {

class Session {
 public:
  // A MAIL command: a new message, whatever was there before. Throws std::bad_alloc; the message is then failed().
  void begin_message(std::string_view envelope_sender);

  // A header field of the message, by its name.
  void add_header(std::string_view name) noexcept;

  // The message's facts are not complete: something went wrong while they were collected.
  void fail() noexcept { failed_ = true; }

  // The message is over, or was given up. Keeps its memory for the next one.
  void reset() noexcept;

  // Valid until the next non-const call.
  Facts facts() const noexcept;

  // The X-Bloomgate fields that came with the message.
  int forged_headers() const noexcept { return forged_headers_; }

  bool failed() const noexcept { return failed_; }

 private:
  std::string envelope_sender_;
  bool has_sender_ = false;
  bool failed_ = false;
  int forged_headers_ = 0;
};

}  // namespace bloomgate
