// A whole message, for a program that has one but no milter: `POST /message`, whose body is the message as it was sent,
// without the dots that SMTP doubles.
//
// The envelope and the client are in header fields of the request, not in its query. A sender chooses the text of an
// address, and if a program forgot to escape it, the sender could add parameters to a query. A field ends at its line
// end, and no address contains one.
//
//   Envelope-From   the sender; empty, or `<>`: the null sender. It has to be there
//   Envelope-To     a recipient, as often as there are some; none: they are not known
//   Client, Helo, Auth-Login, Daemon-Name, Mta-Name    what a mail server would tell, as the options of `explain`
//   Queue-Id        by which the message is in the log
//
// Pure; safe from any thread. The bytes may be hostile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ip_network.hpp"
#include "filter/mail/mail_header.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

inline constexpr std::size_t kMaxPostedMessageBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxPostedRecipients = 1000;
// Limits on a message's header: more than a mail server accepts, and less than would exhaust memory.
inline constexpr std::size_t kMaxPostedHeaderBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxPostedFields = 5000;

struct PostedEnvelope {
  std::string from = {};             // a path as a mail server passes it, in angle brackets
  std::vector<std::string> to = {};  // such paths; empty: they are not known
  std::optional<IpAddress> client = {};
  std::string helo = {};
  std::string login = {};
  std::string daemon_name = {};
  std::string mta_name = {};
  std::string queue_id = {};
};

// Reads the fields of a request. If a field is missing, occurs twice or has an invalid value, returns nothing, and
// `fault` says which field, in words for a person. Throws std::bad_alloc.
std::optional<PostedEnvelope> posted_envelope(const HttpFields& fields, std::string& fault);

// The header of a message, and where its body begins. The views point into the text.
struct PostedText {
  std::vector<HeaderField> fields = {};
  std::string_view body = {};
  // Why another program may see another header, in words for a person; if empty, the other members are valid. Otherwise
  // a mail program could show a field that is hidden here.
  std::string_view fault = {};
};

// Throws std::bad_alloc.
PostedText split_posted(std::string_view text);

}  // namespace bloomgate
