// The headers of messages in files of mail. GMime reads the addresses.
//
// Of a message that a user has sent, as it lies in a folder of sent mail: who sent it, and to whom. Of the body only
// the start of a multipart is looked at, since an answer to an invitation stands there
// (filter/mail/calendar_reply.hpp).
//
// Of a received message, as far as it shows a mailing list: which list has which address (RFC 2919, RFC 2369), and
// which message this is or answers. The sender may have made up all of it; ListPosts holds it against what users sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/list_posts.hpp"

namespace bloomgate {

// The addresses of a field's value (RFC 5322 section 3.4), those of groups too, as they are written. Text that is not
// balanced (quotes, comments, brackets) has none, and neither has a mailbox with more than one address in it. Safe from
// any thread: the first call sets GMime up.
std::vector<std::string> addresses_of(std::string_view value);

// The identifiers of messages in a field's value (RFC 5322 section 3.6.4), without their brackets.
std::vector<std::string_view> message_ids(std::string_view value);

// Collects the header of a sent message line by line. A value; for one thread.
class MessageHeader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 18;  // of what is kept: more is no letter of a person

  static constexpr std::size_t kMostFieldBytes = 4096;  // that tell whether a person has written
  // The next line, without its end, up to the empty one.
  void add_line(std::string_view line);
  // How many bytes its body has, as some programs write an mbox, in which a text may have any line; 0: that is not
  // said.
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  // The header is over. Whether lines of the body are wanted, too.
  bool end_header();
  // The next line of the body, without its end. Whether more are wanted.
  bool add_body_line(std::string_view line);
  void clear();
  bool empty() const noexcept { return !has_lines_; }

  // Gives the recipients to the sink as contacts of `users`, whose folder it is in, whatever From says, if the message
  // counts, and counts why they do not; gives them to `posts` as well, unless it is null. Passes on what both throw.
  void harvest(const HarvestRules& rules, Users users, HarvestCounts& counts, ContactSink& sink, ListPosts* posts);

 private:
  // The field that the last lines were of is over.
  void end_field();

  std::size_t kept_bytes() const noexcept { return from_.size() + to_.size() + message_id_.size() + date_.size(); }

  std::string from_;  // the values of these fields
  std::string to_;    // of To, Cc and Bcc
  std::string message_id_;
  std::string date_;
  std::string content_type_;
  std::string body_;             // its start
  std::string* last_ = nullptr;  // what a folded line goes on with
  std::string name_;             // of the field that the last lines were of,
  std::string value_;            // and its value, as far as it tells whether a person has written
  std::uint64_t body_bytes_ = 0;
  std::size_t from_fields_ = 0;
  bool has_lines_ = false;
  bool is_automatic_ = false;
  bool is_bounce_ = false;
  bool is_received_ = false;
  bool is_too_long_ = false;
};

// The one address to which a list's members post, by the value of a List-Post field:
// `<https://lists.example.org/dev>, <mailto:dev@lists.example.org?subject=x>`. Not an address if there is none or more
// than one, or if the value has any other form, as for a list that takes no posts (`NO`). Throws std::bad_alloc.
Entry posting_address(std::string_view value);

// The same of a received message.
class ReceivedHeader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 16;  // of what is kept
  // Of the messages that one names. A forged one cannot guess at many.
  static constexpr std::size_t kMostIds = 100;

  // The next line, without its end, up to the empty one.
  void add_line(std::string_view line);
  // The body is of no interest.
  static constexpr bool end_header() noexcept { return false; }
  // Its sender chooses the field that says it, and could hide the messages behind.
  static constexpr std::uint64_t body_bytes() noexcept { return 0; }
  static constexpr bool add_body_line(std::string_view /*line*/) noexcept { return false; }
  void clear();
  bool empty() const noexcept { return !has_lines_; }

  // Gives what the header shows to `posts`, and counts it. Passes on what `posts` throws.
  void harvest(HarvestCounts& counts, ListPosts& posts) const;

 private:
  std::string list_id_;  // the values of these fields
  std::string list_post_;
  std::string ids_;              // of Message-ID, In-Reply-To and References, one after the other
  std::string* last_ = nullptr;  // what a folded line goes on with
  std::size_t list_ids_ = 0;
  std::size_t list_posts_ = 0;
  std::size_t kept_bytes_ = 0;
  bool has_lines_ = false;
};

}  // namespace bloomgate
