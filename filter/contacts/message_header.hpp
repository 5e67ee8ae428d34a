// The headers of messages in files of mail. GMime reads the addresses.
//
// For a message that a user has sent, from a folder of sent mail: who sent it, and to whom. Of the body, only the start
// of a multipart is read, since the answer to an invitation is there (filter/mail/calendar_reply.hpp).
//
// For a received message, what it shows of a mailing list: which list has which address (RFC 2919, RFC 2369), and which
// message this is or answers. The sender may have forged all of it; ListPosts compares it with what users sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/list_posts.hpp"

namespace bloomgate {

// The addresses of a field's value (RFC 5322 section 3.4), also those of groups, as they are written. The result is
// empty for text that is not balanced (quotes, comments, brackets); a mailbox with more than one address is left out.
// Safe from any thread: the first call initialises GMime.
std::vector<std::string> addresses_of(std::string_view value);

// The identifiers of messages in a field's value (RFC 5322 section 3.6.4), without their brackets.
std::vector<std::string_view> message_ids(std::string_view value);

// Collects the header of a sent message line by line. A value; for one thread.
class MessageHeader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 18;  // kept bytes; a person's letter has no larger header

  static constexpr std::size_t kMostFieldBytes = 4096;  // of a field that shows whether a person has written
  // Adds the next line, without its end, up to the empty one.
  void add_line(std::string_view line);
  // The number of bytes of the body, which some programs write into an mbox, whose text may then have any line; 0: not
  // given.
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  // Ends the header. Returns whether lines of the body are needed, too.
  bool end_header();
  // Adds the next line of the body, without its end. Returns whether more are needed.
  bool add_body_line(std::string_view line);
  void clear();
  bool empty() const noexcept { return !has_lines_; }

  // If the message counts, passes the recipients to the sink as contacts of `users`, who own the folder, whatever From
  // says; passes them to `posts` as well, unless it is null. If it does not count, counts the reason. Passes on what
  // both throw.
  void harvest(const HarvestRules& rules, Users users, HarvestCounts& counts, ContactSink& sink, ListPosts* posts);

 private:
  // Ends the field of the last lines.
  void end_field();

  std::size_t kept_bytes() const noexcept { return from_.size() + to_.size() + message_id_.size() + date_.size(); }

  std::string from_;  // the values of these fields
  std::string to_;    // of To, Cc and Bcc
  std::string message_id_;
  std::string date_;
  std::string content_type_;
  std::string body_;             // its start
  std::string* last_ = nullptr;  // the value that a folded line continues
  std::string name_;             // of the field of the last lines,
  std::string value_;            // and its value, if it shows whether a person has written
  std::uint64_t body_bytes_ = 0;
  std::size_t from_fields_ = 0;
  bool has_lines_ = false;
  bool is_automatic_ = false;
  bool is_bounce_ = false;
  bool is_received_ = false;
  bool is_too_long_ = false;
};

// The one address to which a list's members post, from the value of a List-Post field:
// `<https://lists.example.org/dev>, <mailto:dev@lists.example.org?subject=x>`. The result is not an address if there is
// none or more than one, or if the value has any other form, such as `NO` for a list without posts. Throws
// std::bad_alloc.
Entry posting_address(std::string_view value);

// The same for a received message.
class ReceivedHeader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 16;  // kept bytes
  // The most messages that one message may name, so that a forged message cannot guess many identifiers.
  static constexpr std::size_t kMostIds = 100;

  // Adds the next line, without its end, up to the empty one.
  void add_line(std::string_view line);
  // The body is not needed.
  static constexpr bool end_header() noexcept { return false; }
  // Always 0: the sender chooses the field with this number, and could hide the messages that follow.
  static constexpr std::uint64_t body_bytes() noexcept { return 0; }
  static constexpr bool add_body_line(std::string_view /*line*/) noexcept { return false; }
  void clear();
  bool empty() const noexcept { return !has_lines_; }

  // Passes what the header shows to `posts`, and counts it. Passes on what `posts` throws.
  void harvest(HarvestCounts& counts, ListPosts& posts) const;

 private:
  std::string list_id_;  // the values of these fields
  std::string list_post_;
  std::string ids_;              // of Message-ID, In-Reply-To and References, one after the other
  std::string* last_ = nullptr;  // the value that a folded line continues
  std::size_t list_ids_ = 0;
  std::size_t list_posts_ = 0;
  std::size_t kept_bytes_ = 0;
  bool has_lines_ = false;
};

}  // namespace bloomgate
