// Records one message, once, as the mail server tells it: the facts that decide() needs, the fields that have to be
// removed, and the text, if a checker may see it. One object serves all messages of a connection, one after the other.
//
// callbacks.cpp fills it, and explain_command.cpp does so from a given message; it knows nothing of libmilter. Legal
// order of calls:
//
//     begin_connection greet* (begin_message add_recipient* add_header* end_header add_body* reset)*
//
// No recording function throws. If something goes wrong (no memory, no disk, calls out of order), that is recorded too.
// A message without all of its facts has failed() and must not be delivered. A message without all of its text has a
// text_fault() and cannot be checked. Used by one thread at a time.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/ip_network.hpp"
#include "milter/fields/grounds.hpp"
#include "milter/message/envelope.hpp"
#include "milter/message/forged_fields.hpp"
#include "milter/message/kept_fields.hpp"
#include "milter/message/message_text.hpp"
#include "milter/policy/facts.hpp"

namespace bloomgate {

// What the mail server says of the client at the MAIL command; empty if it says nothing.
struct ClientFacts {
  std::string_view login;        // by SASL: its macro {auth_authen}
  std::string_view daemon_name;  // the listener: its macro {daemon_name}
};

class MessageRecorder {
 public:
  // Of a header that is kept for a verifier.
  static constexpr std::size_t kMaxKeptHeaderBytes = std::size_t{1} << 18;

  // With `text`, it keeps the texts of messages within these limits, for a checker, and counts other checkers' results,
  // to be removed. Without it, it does neither.
  explicit MessageRecorder(std::optional<MessageText::Limits> text = std::nullopt);

  // From the next message on: whether header values come with the space after the colon, as they were sent, or without
  // the space at their start, and whether the header is kept for a verifier of signatures.
  void set_leading_space(bool comes) noexcept { has_leading_space_ = comes; }
  void keep_header(bool is_kept) noexcept { keeps_header_ = is_kept; }

  // Whether all recipients of the messages are told. If not, the facts have none.
  void expect_recipients(bool are_told) noexcept { knows_recipients_ = are_told; }

  // A client has connected; everything about the previous one is forgotten. There is no address if the client is not on
  // the Internet. `name` is as the mail server gives it.
  void begin_connection(const std::optional<IpAddress>& client, std::string_view name = {}) noexcept;

  // The client has greeted. If there is no memory for its name, its messages have failed() until the next greeting.
  void greet(std::string_view name) noexcept;

  // A MAIL command: a new message, whatever came before. `path` is as the mail server gives it, in angle brackets.
  void begin_message(std::string_view path, const ClientFacts& client = {}) noexcept;

  // The first are kept, for a checker: rspamd is told of 16 KiB of them. If one is not, or is cut off, the facts say
  // so.
  void add_recipient(std::string_view path) noexcept;

  // With more Authentication-Results fields than can be kept, the message has failed(), since a field that was left out
  // may forbid delivery. Our own marks and the results of other checkers are not part of the text.
  void add_header(std::string_view name, std::string_view value) noexcept;

  // All fields are there. If the text is not `wanted`, it is forgotten. Further calls do nothing.
  void end_header(bool wanted) noexcept;

  // The next bytes of the body. Returns whether more of it is wanted.
  bool add_body(std::string_view bytes) noexcept;

  // The message is over, or was given up. Keeps some memory for the next one, and the facts about the client.
  void reset() noexcept;

  // What is known of the message now; reads its From and Authentication-Results fields. `trusted_ids` are the names
  // whose results are trusted, and `trusted_fields` is how many Authentication-Results fields count, from the top (0:
  // all). A result of DKIM counts only for a signature that meets `cover` at the time `now`. Valid until the next call
  // of another function. Throws std::bad_alloc.
  Facts facts(
      std::span<const std::string> trusted_ids, std::size_t trusted_fields = 0, const CoverRules& cover = {},
      std::chrono::sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));

  // The facts are not complete.
  bool failed() const noexcept { return failed_; }

  // The step with an exception, "at MAIL"; empty: none. With an exception the message has failed().
  std::string_view exception_at() const noexcept { return exception_at_; }

  // The X-Bloomgate fields that came with the message, and where texts are kept other checkers' results too.
  const ForgedFields& forged_fields() const noexcept { return forged_fields_; }

  // All fields as they were sent, forged ones too: "Subject: it is\r\n\tfolded". Only if they are kept. Nothing if
  // there are too many, or if there was no memory for them. Valid until the message is over. Throws std::bad_alloc.
  std::optional<std::span<const std::string_view>> header();

  // The first bytes of the first Content-Type field, without the space at its start; empty: there is none. Valid until
  // the message is over.
  std::string_view content_type() const noexcept { return content_type_; }

  // By SASL; empty: the client has not logged in. Valid until the message is over.
  std::string_view login() const noexcept { return login_; }

  // Throws std::bad_alloc.
  Envelope envelope(const EndOfMessage& end) const;

  // Only if texts are kept.
  const MessageText& text() const noexcept { return *text_; }

  // The same, for somebody who outlives the message; leaves none. Throws std::bad_alloc.
  MessageText take_text() { return text_->take(); }

  // Why a checker must not see the text, in words for a person; empty: nothing is wrong with it.
  std::string_view text_fault() const noexcept { return text_fault_; }

 private:
  template <typename Step>
  void record(std::string_view where, Step step) noexcept;
  template <typename Step>
  void record_text(Step step) noexcept;
  bool keep(std::string_view name, std::string_view value);
  void keep_message_id(std::string_view value);
  void keep_field(std::string_view name, std::string_view value) noexcept;
  void add_to_text(std::string_view name, std::string_view value);
  void set_text_fault(std::string_view fault) noexcept;

  // About the client, until the next one.
  std::optional<IpAddress> client_;
  std::string client_name_;
  std::string helo_;
  bool knows_helo_ = true;  // false: it could not be kept

  // About the message.
  std::string login_;
  std::string daemon_name_;
  std::string path_;  // of MAIL
  bool has_path_ = false;
  static constexpr std::size_t kMaxRecipientBytes = 1024;
  KeptFields recipients_{{.fields = 1000, .bytes_each = kMaxRecipientBytes, .bytes = 32768}};
  bool knows_recipients_ = false;
  static constexpr std::size_t kMaxContentTypeBytes = 4096;
  std::string content_type_;
  static constexpr std::size_t kMaxMessageIdBytes = 998;  // a line of mail
  std::string message_id_;
  bool is_automatic_ = false;
  bool is_report_ = false;
  bool is_header_ambiguous_ = false;
  bool has_all_recipients_ = true;
  // Two From fields have the same effect as more, and so has one byte too many: neither is an identity.
  KeptFields from_fields_{{.fields = 2, .bytes_each = kMaxHeaderFromBytes + 1, .bytes = 2 * kMaxHeaderFromBytes + 2}};
  KeptFields authentication_results_{
      {.fields = 1000, .bytes_each = kMaxAuthenticationResultsBytes + 1, .bytes = 1 << 20}};
  // Past these bounds no signature is verified.
  KeptFields header_{{.fields = 1000, .bytes_each = kMaxKeptHeaderBytes, .bytes = kMaxKeptHeaderBytes}};
  bool has_whole_header_ = true;
  bool keeps_header_ = false;
  bool has_leading_space_ = false;
  Grounds grounds_;
  ForgedFields forged_fields_;
  std::optional<MessageText> text_;
  bool header_is_over_ = false;
  bool keeps_body_ = false;  // once its header is over
  bool failed_ = false;
  std::string_view exception_at_;
  std::string text_fault_;
};

}  // namespace bloomgate
