// Which messages tell whom our users write to, and how many were left out for which reason.
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
  bool is_named = false;   // the hash is of the Message-ID; else of something that other sources do not have
  bool is_logged = false;  // by a mail server; else it is a copy of the user's
  std::optional<std::chrono::sys_days> day = {};  // on which it was written, as its source says
};

// `message_id` has no brackets. A long one is cut in a log (Sendmail: 83 bytes), and bytes beyond ASCII are replaced:
// `instead`, which all copies of one kind have, then stands for the message, as it does for an empty one.
inline MessageMark mark_of(std::string_view message_id, std::string_view instead, bool is_logged) noexcept {
  constexpr std::size_t kMostBytes = 78;
  const bool is_named = !message_id.empty() && message_id.size() <= kMostBytes && ascii::is_ascii(message_id);
  return {.hash = std::hash<std::string_view>{}(is_named ? message_id : instead),
          .is_named = is_named,
          .is_logged = is_logged};
}

// The domains of our own users. Immutable once made; safe from any thread.
class OwnDomains {
 public:
  // `example.net` or `@example.net` is that domain, `.example.net` or `@.example.net` all below it as well. Throws
  // UsageError for what is no domain.
  explicit OwnDomains(const std::vector<std::string>& names);

  // `domain` must be canonical.
  bool contains(std::string_view domain) const noexcept;
  // The domain, if there is one alone, and none below it; else empty.
  std::string_view only() const noexcept;

 private:
  std::set<std::string, std::less<>> keys_;
};

struct HarvestRules {
  OwnDomains own_domains;
  std::uint32_t most_recipients = 20;  // a message to more is no sign that somebody knows them
  bool needs_user = false;             // whether it matters who has written, and not how many
  bool address_books = false;          // whether those in folders are read, too
  bool without_login = false;          // whether a client that has not logged in may be a user of ours
};

enum class LeftOut : std::uint8_t {
  null_sender,      // messages: bounces
  automatic,        // messages: answered by a program, or of a mailing list
  received,         // messages in a folder of sent mail that came in
  many_recipients,  // messages
  foreign_sender,   // messages: the sender is in none of our domains
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
inline constexpr std::array<std::string_view, kLeftOutKinds> kLeftOutNames = {
    "null_sender", "automatic",  "received", "many_recipients", "foreign_sender", "no_login",   "other_sender",
    "unreadable",  "own_domain", "program",  "not_delivered",   "open",           "over_limit", "forgotten"};

inline constexpr std::array<std::string_view, kLeftOutKinds> kLeftOutTexts = {
    "bounces",
    "automatic or mailing-list messages",
    "messages that came in: they may be of anybody",
    "messages to too many recipients",
    "messages of senders in other domains",
    "messages of clients that had not logged in",
    "messages of senders whose address is not the login's",
    "messages or contacts without a readable address",
    "recipients in your own domains",
    "addresses that no person reads",
    "recipients who were not reached",
    "messages for lack of room: too many were open at once",
    "contacts of users who have more than --most-contacts",
    "contacts and users who were forgotten after that"};

struct HarvestCounts {
  std::uint64_t messages = 0;         // of our users to others
  std::uint64_t contacts = 0;         // their recipients, as often as somebody wrote to them
  std::uint64_t named_messages = 0;   // of the messages, in files of sent mail: those with a Message-ID
  std::uint64_t list_messages = 0;    // received ones that name their mailing list and its address
  std::uint64_t log_messages = 0;     // of the messages, in logs
  std::uint64_t automatic_marks = 0;  // lines of logs that mark a message as automatic, a user's or not
  std::array<std::uint64_t, kLeftOutKinds> left_out = {};

  void leave_out(LeftOut reason, std::uint64_t times = 1) noexcept {
    left_out[static_cast<std::size_t>(reason)] += times;
  }
};

// Takes what was found.
class ContactSink {
 public:
  virtual ~ContactSink() = default;
  // The keys of the recipient of a message, or of the mailing list that it was posted to, and of the user of ours who
  // sent it; and of the message, if there is one. Throws BloomgateError{cannot_write}.
  virtual void add(std::string_view contact, std::string_view user, const MessageMark& message) = 0;
  // The operator has named an address book or a table as that user's, which may have as many contacts as it likes.
  virtual void lift_limit(std::string_view /*user*/) {}
};

// The keys of one user's addresses; where only the number of users matters, one text that stands for that user.
using Users = std::span<const std::string>;

// That source, "an address book" say, does not tell whose it is, and nobody else does: bad_argument.
BloomgateError unknown_user(std::string_view source);

// Gives the recipient to the sink for each of these addresses, unless it is no address or in a domain of ours, which is
// counted. Returns whether it did. Passes on what the sink throws.
bool add_contact(const Entry& contact, Users users, const MessageMark& message, const HarvestRules& rules,
                 HarvestCounts& counts, ContactSink& sink);

}  // namespace bloomgate
