// What the deeper check is to get of the message that is under way: its envelope and its text, and which of its header
// fields claim to be a checker's result. One object serves all messages of a connection, one after the other. There is
// one only where a deeper check is asked.
//
// Filled by callbacks.cpp in this order; a field or body out of it makes the message faulty:
//     begin_connection greet* (begin_message add_recipient* add_field* end_header add_body* reset)*
// Whatever goes wrong on the way (no memory, no disk) is kept as the message's fault, and its deeper check then fails:
// no function throws. What there was no memory for of the client stays unknown. Used by one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/deep_check_options.hpp"
#include "config/ip_network.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/message_text.hpp"
#include "milter/message/spam_fields.hpp"

namespace bloomgate {

class CheckedMessage {
 public:
  explicit CheckedMessage(const DeepCheckOptions& options);

  // `client_name` is as the mail server gives it. Nothing is known of the client before any more.
  void begin_connection(const std::optional<IpAddress>& client, std::string_view client_name) noexcept;

  void greet(std::string_view name) noexcept;

  // A MAIL command: a new message, whatever was there before. `path` is as the mail server gives it, in angle brackets;
  // `login` is the client's by SASL, or empty.
  void begin_message(std::string_view path, std::string_view login) noexcept;

  void add_recipient(std::string_view path) noexcept;

  // Marks of ours and results of other checkers are not shown to the checker; the latter are counted.
  void add_field(std::string_view name, std::string_view value) noexcept;

  // All fields are there. Where the message is not `wanted` its text is forgotten.
  void end_header(bool wanted) noexcept;

  // The next bytes of the body. Returns whether more of it is wanted.
  bool add_body(std::string_view bytes) noexcept;

  // The message is over, or was given up. Keeps some memory for the next one, and what is known of the client.
  void reset() noexcept;

  // The queue ID and the mail server's name are not in it.
  const CheckedEnvelope& envelope() const noexcept { return envelope_; }
  const MessageText& text() const noexcept { return text_; }
  const SpamFields& spam_fields() const noexcept { return spam_fields_; }

  // What went wrong, in words for a person; empty: nothing.
  std::string_view fault() const noexcept { return fault_; }

 private:
  enum class Part { header, body, unwanted };

  template <typename Step>
  void guarded(Step step) noexcept;
  void set_fault(std::string_view fault) noexcept;

  CheckedEnvelope envelope_;
  MessageText text_;
  SpamFields spam_fields_;
  Part part_ = Part::header;
  std::string fault_;
};

}  // namespace bloomgate
