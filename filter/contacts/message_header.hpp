// The header of a message that a user has sent, as it lies in a folder of sent mail: who sent it, and to whom. Of the
// body only the start of a multipart is looked at, since an answer to an invitation stands there
// (filter/mail/calendar_reply.hpp). GMime reads the addresses.
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

// Collects a header line by line. A value; for one thread.
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

}  // namespace bloomgate
