// Which messages show the correspondents of our users, and how many messages were left out for which reason.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"

namespace bloomgate {

// Which message shows a contact, for counting messages: the same one may be in a log, in a copy of it, and in folders
// of sent mail.
struct MessageMark {
  std::uint64_t hash = 0;
  bool is_named = false;   // the hash is of the Message-ID; otherwise of something that other sources do not have
  bool is_logged = false;  // by a mail server; otherwise it is a copy of the user's
  std::optional<std::chrono::sys_days> day = {};  // on which it was written, according to its source
};

// `message_id` has no brackets. Logs cut a long one (Sendmail: 83 bytes), and replace bytes beyond ASCII. For such an
// identifier, and for an empty one, `instead` stands for the message; all copies of one kind have the same `instead`.
inline MessageMark mark_of(std::string_view message_id, std::string_view instead, bool is_logged) noexcept {
  constexpr std::size_t kMostBytes = 78;
  const bool is_named = !message_id.empty() && message_id.size() <= kMostBytes && ascii::is_ascii(message_id);
  return {.hash = std::hash<std::string_view>{}(is_named ? message_id : instead),
          .is_named = is_named,
          .is_logged = is_logged};
}

// The domains of our own users. Immutable after its constructor; safe from any thread.
class OwnDomains {
 public:
  // `example.net` or `@example.net` is that domain, `.example.net` or `@.example.net` all below it as well. Throws
  // UsageError for a name that is not a domain.
  explicit OwnDomains(const std::vector<std::string>& names);

  // `domain` must be canonical.
  bool contains(std::string_view domain) const noexcept;
  // The domain, if there is exactly one, without the domains below it; otherwise empty.
  std::string_view only() const noexcept;

 private:
  std::set<std::string, std::less<>> keys_;
};

struct HarvestRules {
  OwnDomains own_domains;
  std::uint32_t most_recipients = 20;  // a message to more does not show that the user knows them
  bool needs_user = false;             // whether the result depends on the user, and not only on the number of users
  bool address_books = false;          // whether address books in folders are read, too
  bool without_login = false;          // whether a client that has not logged in may be one of our users
};

enum class LeftOut : std::uint8_t {
  null_sender,      // messages: bounces
  automatic,        // messages: answered by a program, or of a mailing list
  received,         // messages in a folder of sent mail that came in
  many_recipients,  // messages
  foreign_sender,   // messages: the sender is not in our domains
  no_login,         // messages: the client had not logged in
  other_sender,     // messages: the sender is not an address of the login
  unreadable,       // messages and contacts: there is no address where one should be
  own_domain,       // recipients in our own domains
  program,          // recipients that no person reads (is_of_program())
  not_delivered,    // recipients
  open,             // messages: more than may be open at once
  over_limit,       // contacts and recipients of a user with too many: see ContactLimit
  forgotten,        // contacts and recipients where one of the two was forgotten later: see ForgottenContacts
};
inline constexpr std::size_t kLeftOutKinds = 14;
struct HarvestCounts {
  std::uint64_t messages = 0;         // from our users to others
  std::uint64_t contacts = 0;         // their recipients, counted for each message
  std::uint64_t named_messages = 0;   // of the messages, in files of sent mail: those with a Message-ID
  std::uint64_t list_messages = 0;    // received messages that name their mailing list and its address
  std::uint64_t log_messages = 0;     // of the messages, in logs
  std::uint64_t automatic_marks = 0;  // log lines that mark a message as automatic, of a user or not
  std::array<std::uint64_t, kLeftOutKinds> left_out = {};

  void leave_out(LeftOut reason, std::uint64_t times = 1) noexcept {
    left_out[static_cast<std::size_t>(reason)] += times;
  }
};

// Receives what was found.
class ContactSink {
 public:
  virtual ~ContactSink() = default;
  // Adds the key of a message's recipient, or of the mailing list that it was posted to; the key of our user who sent
  // it; and the mark of the message, if there is one. Throws BloomgateError{cannot_write}.
  virtual void add(std::string_view contact, std::string_view user, const MessageMark& message) = 0;
  // The operator has named an address book or a table as that user's. It may then have any number of contacts.
  virtual void lift_limit(std::string_view /*user*/) {}
};

// The keys of one user's addresses. If only the number of users matters, one text that stands for that user.
using Users = std::span<const std::string>;

// The error bad_argument: neither the source, such as "an address book", nor the command line says whose it is.
BloomgateError unknown_user(std::string_view source);

// Passes the recipient to the sink for each of these users' addresses. If it is not an address, or is in one of our
// domains, counts that instead. Returns whether it was passed on. Passes on what the sink throws.
bool add_contact(const Entry& contact, Users users, const MessageMark& message, const HarvestRules& rules,
                 HarvestCounts& counts, ContactSink& sink);

}  // namespace bloomgate
