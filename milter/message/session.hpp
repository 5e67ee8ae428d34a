// What one connection of the mail server has told about the message that is under way: the facts that decide() needs,
// and how many X-Bloomgate fields came with it. One object serves all messages of a connection, one after the other.
//
// Filled by callbacks.cpp, and by explain_command.cpp from a message at hand; knows nothing of libmilter. Used by one
// thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/ip_network.hpp"
#include "milter/message/kept_fields.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/grounds.hpp"

namespace bloomgate {

// What the mail server says of the client at the MAIL command; empty where it says nothing.
struct ClientFacts {
  std::string_view login;        // by SASL: its macro {auth_authen}
  std::string_view daemon_name;  // the listener: its macro {daemon_name}
};

class Session {
 public:
  // A client has connected; nothing is known of the one before any more. Without an address where it is not of the
  // Internet.
  void begin_connection(const std::optional<IpAddress>& client) noexcept;

  // The client has greeted. Throws std::bad_alloc; its messages are then failed() until the next greeting.
  void greet(std::string_view name);

  // A MAIL command: a new message, whatever was there before. Throws std::bad_alloc; the message is then failed().
  void begin_message(std::string_view envelope_sender, const ClientFacts& client = {});

  // A header field of the message. Throws std::bad_alloc; the message is then failed(). So it is with more
  // Authentication-Results fields than can be kept: one that was left out may have said what forbids delivery.
  void add_header(std::string_view name, std::string_view value);

  // The message's facts are not complete: something went wrong while they were collected.
  void fail() noexcept { failed_ = true; }

  // The message is over, or was given up. Keeps its memory for the next one, and what is known of the client.
  void reset() noexcept;

  // What is known of the message now, its From and Authentication-Results fields read; `trusted_ids` are the names
  // whose results are believed, and `trusted_fields` how many Authentication-Results fields from the top are looked at
  // (0: all). Valid until the next call of another function. Throws std::bad_alloc.
  Facts facts(std::span<const std::string> trusted_ids, std::size_t trusted_fields = 0);

  // The X-Bloomgate fields that came with the message.
  int forged_headers() const noexcept { return forged_headers_; }

  bool failed() const noexcept { return failed_; }

 private:
  bool keep(std::string_view name, std::string_view value);

  std::optional<IpAddress> client_;
  std::string helo_;
  bool knows_helo_ = true;  // false: it could not be kept
  std::string login_;
  std::string daemon_name_;
  std::string envelope_sender_;
  bool has_sender_ = false;
  // Two From fields are as good as any number, and one byte too much as any: neither is an identity.
  KeptFields from_fields_{{.fields = 2, .bytes_each = kMaxHeaderFromBytes + 1, .bytes = 2 * kMaxHeaderFromBytes + 2}};
  KeptFields authentication_results_{
      {.fields = 1000, .bytes_each = kMaxAuthenticationResultsBytes + 1, .bytes = 1 << 20}};
  Grounds grounds_;
  bool failed_ = false;
  int forged_headers_ = 0;
};

}  // namespace bloomgate
