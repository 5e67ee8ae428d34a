// The header of a received message, as far as it shows a mailing list: which list has which address (RFC 2919, RFC
// 2369), and which message this is or answers. All of it is only what somebody wrote; ListPosts holds it against what
// users sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/list_posts.hpp"

namespace bloomgate {

// The one address to which a list's members post, by the value of a List-Post field:
// `<https://lists.example.org/dev>, <mailto:dev@lists.example.org?subject=x>`. Not an address if there is none or more
// than one, or if the value has any other form, as for a list that takes no posts (`NO`). Throws std::bad_alloc.
Entry posting_address(std::string_view value);

// Collects a header line by line. A value; for one thread.
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
