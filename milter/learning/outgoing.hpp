// Which pairs a message of a user of ours teaches: the first step of learning. Pure; safe from any thread.
//
// A user can list somebody for nobody but himself: the pair has the envelope sender as its user, and that must be an
// address in one of the own domains. Whether a login may use that sender is for the mail server to say (Postfix:
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
  std::optional<IpAddress> exempt_client = {};  // who taught it without a login

  bool is_empty() const noexcept { return correspondents.empty(); }
};

struct LessonRules {
  std::size_t most_recipients = 20;
  // Whether a client in an exempt network teaches without a login. Any program there can then name any user.
  bool from_exempt = false;
};

// Empty unless the client has logged in, or is in an exempt network and such clients teach; and for a null sender, a
// sender in no own domain, one who has opted out (nothing would be delivered by it), an automatic message
// (Facts::is_automatic), and one with too many recipients, or with some that are not known. Recipients in own domains,
// those that no person reads (is_of_program()), those that are revoked for the user or for everybody, and those that
// are no addresses are left out. Throws std::bad_alloc.
Lesson lesson_of(const Facts& facts, const Lists& lists, const Policy& policy, const LessonRules& rules);

// The address of a user of ours as it is in pairs: without its tag. `path` as in a MAIL or RCPT command.
Entry user_of(std::string_view path, const Policy& policy) noexcept;

}  // namespace bloomgate
