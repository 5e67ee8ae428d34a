// Which pairs a message of a local user teaches: the first step of learning. Pure; safe from any thread.
//
// A user can list a sender only for themselves: the user of the pair is the envelope sender, which must be an address
// in one of the own domains. Whether a login may use that sender address is for the mail server to check (Postfix:
// reject_sender_login_mismatch).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ip_network.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

struct Lesson {
  std::string user;  // a canonical address without a tag
  std::vector<std::string> correspondents = {};
  std::optional<IpAddress> exempt_client = {};  // the client that taught it without a login

  bool is_empty() const noexcept { return correspondents.empty(); }
};

struct LessonRules {
  std::size_t most_recipients = 20;
  // Whether a client in an exempt network teaches without a login. Any program there can then name any user.
  bool from_exempt = false;
};

// The lesson is empty if the client has not logged in, unless it is in an exempt network and such clients teach. It is
// also empty for a null sender, for a sender outside the own domains, for a user who has opted out (pairs would deliver
// nothing), for an automatic message (Facts::is_automatic), and for a message with too many recipients, or some that
// are unknown. Omitted are recipients in own domains, recipients that no person reads (is_of_program()), those that are
// revoked for the user or for all users, and invalid addresses. Throws std::bad_alloc.
Lesson lesson_of(const Facts& facts, const Lists& lists, const Policy& policy, const LessonRules& rules);

// The address of a local user in the form for pairs: without its tag. `path` is as in a MAIL or RCPT command.
Entry user_of(std::string_view path, const Policy& policy) noexcept;

}  // namespace bloomgate
