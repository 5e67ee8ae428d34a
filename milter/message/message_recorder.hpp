// Records one message as the mail server tells it, once: the facts that decide() needs, the fields that have to be
// removed from it, and its text, where a checker may be shown it. One object serves all messages of a connection, one
// after the other.
//
// Filled by callbacks.cpp, and by explain_command.cpp from a message at hand; knows nothing of libmilter. Legal order
// of calls:
//
//     begin_connection greet* (begin_message add_recipient* add_header* end_header add_body* reset)*
//
// Nothing that records throws. Where something goes wrong on the way (no memory, no disk, calls out of order) that is
// recorded, too: without all of its facts the message has failed() and must not be delivered, and without all of its
// text it has a text_fault() and cannot be checked. Used by one thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/ip_network.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/kept_fields.hpp"
#include "milter/message/message_text.hpp"
#include "milter/message/spam_fields.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/grounds.hpp"

namespace bloomgate {

// What the mail server says of the client at the MAIL command; empty where it says nothing.
struct ClientFacts {
  std::string_view login;        // by SASL: its macro {auth_authen}
  std::string_view daemon_name;  // the listener: its macro {daemon_name}
};

class MessageRecorder {
 public:
  // With `text` the texts of messages are kept within these limits, for a checker, and other checkers' results are
  // counted, to be removed; without it neither.
  explicit MessageRecorder(std::optional<MessageText::Limits> text = std::nullopt);

  // A client has connected; nothing is known of the one before any more. Without an address where it is not of the
  // Internet. `name` is as the mail server gives it.
  void begin_connection(const std::optional<IpAddress>& client, std::string_view name = {}) noexcept;

  // The client has greeted. Where there is no memory for its name, its messages have failed() until the next greeting.
  void greet(std::string_view name) noexcept;

  // A MAIL command: a new message, whatever was there before. `path` is as the mail server gives it, in angle brackets.
  void begin_message(std::string_view path, const ClientFacts& client = {}) noexcept;

  void add_recipient(std::string_view path) noexcept;

  // With more Authentication-Results fields than can be kept the message has failed(): one that was left out may have
  // said what forbids delivery. Marks of ours and results of other checkers are no part of the text.
  void add_header(std::string_view name, std::string_view value) noexcept;

  // All fields are there. Where the text is not `wanted` it is forgotten. Does nothing when called again.
  void end_header(bool wanted) noexcept;

  // The next bytes of the body. Returns whether more of it is wanted.
  bool add_body(std::string_view bytes) noexcept;

  // The message is over, or was given up. Keeps some memory for the next one, and what is known of the client.
  void reset() noexcept;

  // What is known of the message now, its From and Authentication-Results fields read; `trusted_ids` are the names
  // whose results are believed, and `trusted_fields` how many Authentication-Results fields from the top are looked at
  // (0: all). Valid until the next call of another function. Throws std::bad_alloc.
  Facts facts(std::span<const std::string> trusted_ids, std::size_t trusted_fields = 0);

  // The facts are not complete.
  bool failed() const noexcept { return failed_; }

  // On which step there was an exception, "at MAIL"; empty: on none. The message has failed() then.
  std::string_view exception_at() const noexcept { return exception_at_; }

  // The X-Bloomgate fields that came with the message.
  int forged_marks() const noexcept { return forged_marks_; }

  // Other checkers' results that came with it.
  const SpamFields& spam_fields() const noexcept { return spam_fields_; }

  // Throws std::bad_alloc.
  Envelope envelope(const EndOfMessage& end) const;

  // Only where texts are kept.
  const MessageText& text() const noexcept { return *text_; }

  // Why a checker must not be shown the text, in words for a person; empty: nothing is wrong with it.
  std::string_view text_fault() const noexcept { return text_fault_; }

 private:
  template <typename Step>
  void record(std::string_view where, Step step) noexcept;
  template <typename Step>
  void record_text(Step step) noexcept;
  bool keep(std::string_view name, std::string_view value);
  void add_to_text(std::string_view name, std::string_view value);
  void set_text_fault(std::string_view fault) noexcept;

  // Of the client, until the next one.
  std::optional<IpAddress> client_;
  std::string client_name_;
  std::string helo_;
  bool knows_helo_ = true;  // false: it could not be kept

  // Of the message.
  std::string login_;
  std::string daemon_name_;
  std::string path_;  // of MAIL
  bool has_path_ = false;
  std::vector<std::string> recipients_;
  // Two From fields are as good as any number, and one byte too much as any: neither is an identity.
  KeptFields from_fields_{{.fields = 2, .bytes_each = kMaxHeaderFromBytes + 1, .bytes = 2 * kMaxHeaderFromBytes + 2}};
  KeptFields authentication_results_{
      {.fields = 1000, .bytes_each = kMaxAuthenticationResultsBytes + 1, .bytes = 1 << 20}};
  Grounds grounds_;
  int forged_marks_ = 0;
  SpamFields spam_fields_;
  std::optional<MessageText> text_;
  bool header_is_over_ = false;
  bool keeps_body_ = false;  // once its header is over
  bool failed_ = false;
  std::string_view exception_at_;
  std::string text_fault_;
};

}  // namespace bloomgate
