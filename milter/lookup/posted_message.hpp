// A whole message, for a program that is no mail server of ours and has no milter:
//
//   POST /message?from=joe@example.org&to=ann@ours.example     its body is the message, as it is on the wire or in a
//   file
//
// In the query are the envelope and the client, by the names of the options of --explain: `from`, which must be there
// (empty, or `<>`: the null sender), `to` for each recipient, `client`, `helo`, `auth-login`, `daemon-name`,
// `mta-name`; and `queue-id` for the log. Pure; safe from any thread. The bytes may be hostile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ip_network.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {

inline constexpr std::size_t kMaxPostedMessageBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxPostedRecipients = 1000;

struct PostedEnvelope {
  std::string from = {};             // a path as a mail server gives it, in angle brackets
  std::vector<std::string> to = {};  // such paths; empty: they are not known
  std::optional<IpAddress> client = {};
  std::string helo = {};
  std::string login = {};
  std::string daemon_name = {};
  std::string mta_name = {};
  std::string queue_id = {};
};

// Of a query, without its `?`. Nothing where `from` is missing, a name is unknown or there twice (but `to`), or a value
// is none. Throws std::bad_alloc.
std::optional<PostedEnvelope> posted_envelope(std::string_view query);

// The same, in words for a person who wrote another query.
inline constexpr std::string_view kPostedQuery =
    "expected /message?from=joe@example.org&to=ann@ours.example, and as needed client=192.0.2.1, helo=, auth-login=, "
    "daemon-name=, mta-name=, queue-id=";

// The header of a message that is the text, and where its body begins. Its views are of the text.
struct PostedText {
  std::vector<HeaderField> fields = {};
  std::string_view body = {};
  // Why another program may see another header, in words for a person; empty: the other members count. Then a field
  // that is hidden here could be what a reader sees.
  std::string_view fault = {};
};

// Throws std::bad_alloc.
PostedText split_posted(std::string_view text);

}  // namespace bloomgate
