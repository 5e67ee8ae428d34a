// The header fields of a message that the mail server is told to remove: marks of our own name, and the fields that
// claim to be a spam checker's result, which is every field whose name begins with X-Spam, in any case. Results are
// counted by name, since a mail server numbers the fields of each name separately. MessageRecorder fills it; used by
// one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

class ForgedFields {
 public:
  // At most so many are removed from one message, of all names together. A mark comes from each server with Bloomgate
  // that a message has passed, and up to ten results from each with a spam checker; of such servers no honest message
  // passes ten. A removal is not cheap: Postfix's cleanup searches for each from the first field on, and above some
  // 10,500 removals it panics (Postfix 3.7.11: "too many reverse jump records").
  static constexpr std::size_t kMaxRemovals = 100;

  // Removals times fields of the message: the steps of those searches, of 60 ns each. So one message costs no more than
  // 60 ms of them, and 100 removals are possible among 10,000 fields.
  static constexpr std::size_t kMaxSearchSteps = 1'000'000;

  struct Name {
    std::string name;  // as it came first, without space after it
    int count = 0;
  };

  enum class Removal : std::uint8_t {
    possible,
    too_many,  // the message is beyond what is removed from one
    unknown,   // there was no memory to count them
  };

  static bool is_result(std::string_view name) noexcept;

  // Every field of the message, forged or not. Those that are forged are then added below too.
  void add_field() noexcept { ++fields_; }

  void add_mark() noexcept { ++marks_; }

  // A field with that name, which is_result(). Throws std::bad_alloc, and removal() is then unknown.
  void add_result(std::string_view name);

  std::size_t marks() const noexcept { return marks_; }

  // In the order in which they came first; all of them only if their removal is possible.
  std::span<const Name> results() const noexcept { return names_; }

  std::size_t count(bool with_results) const noexcept { return marks_ + (with_results ? results_ : 0); }

  // Whether the marks, and the results too if asked, can be removed.
  Removal removal(bool with_results) const noexcept;

  void clear() noexcept;

 private:
  static constexpr std::size_t kMaxNameBytes = 1000;  // a line of a message has 998 (RFC 5322 section 2.1.1)

  std::size_t fields_ = 0;
  std::size_t marks_ = 0;
  std::size_t results_ = 0;
  std::vector<Name> names_;  // at most kMaxRemovals
  bool has_long_name_ = false;
  bool has_lost_name_ = false;
};

}  // namespace bloomgate
