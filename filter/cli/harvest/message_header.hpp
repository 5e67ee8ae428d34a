// The header of a message that a user has sent, as it lies in a folder of sent mail: who sent it, and to whom. The body
// is never looked at. GMime reads the addresses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "filter/cli/harvest/harvest_rules.hpp"

namespace bloomgate::cli {

// The addresses of a field's value (RFC 5322 section 3.4), those of groups too, as they are written. Text that is not
// balanced (quotes, comments, brackets) has none. Safe from any thread: the first call sets GMime up.
std::vector<std::string> addresses_of(std::string_view value);

// Collects a header line by line. A value; for one thread.
class MessageHeader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 18;  // of what is kept: more is no letter of a person

  // The next line, without its end, up to the empty one.
  void add_line(std::string_view line);
  void clear();
  bool empty() const noexcept { return !has_lines_; }

  // Gives the recipients to the sink if the message counts, and counts why they do not. Passes on what the sink throws.
  void harvest(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink) const;

 private:
  std::string from_;             // the values of these fields
  std::string to_;               // of To, Cc and Bcc
  std::string* last_ = nullptr;  // what a folded line goes on with
  std::size_t from_fields_ = 0;
  bool has_lines_ = false;
  bool is_automatic_ = false;
  bool is_bounce_ = false;
  bool is_too_long_ = false;
};

}  // namespace bloomgate::cli
