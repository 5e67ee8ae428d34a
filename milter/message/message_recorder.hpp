// Records one message while the mail server sends it: the facts that decide() needs, the fields that have to be
// removed, and the text, if a checker may see it. One object serves all messages of a connection, one after the other.
//
// callbacks.cpp fills it; explain_command.cpp fills it from a given message. It does not depend on libmilter. Legal
// order of calls:
//
//     begin_connection greet* (begin_message add_recipient* add_header* end_header add_body* reset)*
//
// No recording function throws. A fault (no memory, no disk, calls out of order) is recorded, too. A message without
// all of its facts has failed() and must not be delivered. A message without all of its text has a text_fault() and
// cannot be checked. Used by one thread at a time.
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

// What the mail server reports about the client at the MAIL command; empty if it reports nothing.
struct ClientFacts {
  std::string_view login;        // by SASL: its macro {auth_authen}
  std::string_view daemon_name;  // the listener: its macro {daemon_name}
};

class MessageRecorder {
 public:
  // The size of a header that is kept for a verifier.
  static constexpr std::size_t kMaxKeptHeaderBytes = std::size_t{1} << 18;

  // With `text`, keeps the texts of messages for a checker, within these limits, and counts other checkers' results for
  // removal. Without it, does neither.
  explicit MessageRecorder(std::optional<MessageText::Limits> text = std::nullopt);

  // Both apply from the next message on. set_leading_space(): whether header values include the space after the colon,
  // as they were sent, or come without white space at their start. keep_header(): whether the header is kept for a
  // verifier of signatures.
  void set_leading_space(bool comes) noexcept { has_leading_space_ = comes; }
  void keep_header(bool is_kept) noexcept { keeps_header_ = is_kept; }

  // Whether the mail server reports all recipients of the messages. If not, the facts have none.
  void expect_recipients(bool are_told) noexcept { knows_recipients_ = are_told; }

  // A client has connected; everything about the previous one is dropped. There is no address if the client did not
  // connect over IP. `name` is as the mail server passes it.
  void begin_connection(const std::optional<IpAddress>& client, std::string_view name = {}) noexcept;

  // The client has greeted. If there is no memory for its name, its messages have failed() until the next greeting.
  void greet(std::string_view name) noexcept;

  // A MAIL command: starts a new message, whatever came before. `path` is as the mail server passes it, in angle
  // brackets.
  void begin_message(std::string_view path, const ClientFacts& client = {}) noexcept;

  // The first recipients are kept, for a checker: rspamd gets 16 KiB of them. If one is not kept, or is cut off, the
  // facts say so.
  void add_recipient(std::string_view path) noexcept;

  // If there are more Authentication-Results fields than can be kept, the message has failed(), since an omitted field
  // may forbid delivery. Our own marks and the results of other checkers are not part of the text.
  void add_header(std::string_view name, std::string_view value) noexcept;

  // The header is complete. If the text is not `wanted`, it is dropped. Further calls do nothing.
  void end_header(bool wanted) noexcept;

  // The next bytes of the body. Returns whether more of it is needed.
  bool add_body(std::string_view bytes) noexcept;

  // The message is over, or was abandoned. Keeps some memory for the next one, and the facts about the client.
  void reset() noexcept;

  // What is known about the message so far; parses its From and Authentication-Results fields. `trusted_ids` are the
  // authserv-ids whose results are trusted. `trusted_fields` is how many Authentication-Results fields count, from the
  // top (0: all). A DKIM result counts only for a signature that meets `cover` at the time `now`. Valid until the next
  // call of another function. Throws std::bad_alloc.
  Facts facts(
      std::span<const std::string> trusted_ids, std::size_t trusted_fields = 0, const CoverRules& cover = {},
      std::chrono::sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));

  // The facts are incomplete.
  bool failed() const noexcept { return failed_; }

  // The step in which an exception occurred, "at MAIL"; empty: none. After an exception the message has failed().
  std::string_view exception_at() const noexcept { return exception_at_; }

  // The X-Bloomgate fields that came with the message. If texts are kept, other checkers' results, too.
  const ForgedFields& forged_fields() const noexcept { return forged_fields_; }

  // All fields as they were sent, including forged ones: "Subject: it is\r\n\tfolded". Only if the header is kept.
  // Nothing if there are too many, or if there was no memory for them. Valid until the message is over. Throws
  // std::bad_alloc.
  std::optional<std::span<const std::string_view>> header();

  // The first bytes of the first Content-Type field, without leading white space; empty: there is none. Valid until the
  // message is over.
  std::string_view content_type() const noexcept { return content_type_; }

  // From SASL; empty: the client has not logged in. Valid until the message is over.
  std::string_view login() const noexcept { return login_; }

  // Throws std::bad_alloc.
  Envelope envelope(const EndOfMessage& end) const;

  // Only if texts are kept.
  const MessageText& text() const noexcept { return *text_; }

  // Moves the text out, for a caller that outlives the message. Throws std::bad_alloc.
  MessageText take_text() { return text_->take(); }

  // Why a checker must not get the text, in words for a person; empty: the text is complete.
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

  // About the client, until the next one connects.
  std::optional<IpAddress> client_;
  std::string client_name_;
  std::string helo_;
  bool knows_helo_ = true;  // false: there was no memory for it

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
  // Two From fields have the same effect as more of them, and one byte too many the same as many: there is no identity.
  KeptFields from_fields_{{.fields = 2, .bytes_each = kMaxHeaderFromBytes + 1, .bytes = 2 * kMaxHeaderFromBytes + 2}};
  KeptFields authentication_results_{
      {.fields = 1000, .bytes_each = kMaxAuthenticationResultsBytes + 1, .bytes = 1 << 20}};
  // Beyond these bounds no signature is verified.
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
