// The header fields of a message that the mail server has to remove: marks with our own name, and fields that claim to
// be a spam checker's result, which are all fields whose name begins with X-Spam, in any case. Results are counted by
// name, since a mail server numbers the fields of each name separately. MessageRecorder fills it; used by one thread at
// a time.
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
  // At most this many fields are removed from one message, of all names together. Each server with Bloomgate on the way
  // of a message adds a mark, and each with a spam checker up to ten results; no honest message passes ten such
  // servers. A removal is not cheap: for each one, Postfix's cleanup searches from the first field on, and above some
  // 10,500 removals it panics (Postfix 3.7.11: "too many reverse jump records").
  static constexpr std::size_t kMaxRemovals = 100;

  // Removals times fields of the message: the number of steps in those searches, of 60 ns each. So the searches for one
  // message take at most 60 ms, and 100 removals are possible among 10,000 fields.
  static constexpr std::size_t kMaxSearchSteps = 1'000'000;

  struct Name {
    std::string name;  // as in its first field, without trailing white space
    int count = 0;
  };

  enum class Removal : std::uint8_t {
    possible,
    too_many,  // more than may be removed from one message
    unknown,   // there was no memory to count them
  };

  static bool is_result(std::string_view name) noexcept;

  // Counts a field of the message, forged or not. For a forged one, a function below is called as well.
  void add_field() noexcept { ++fields_; }

  void add_mark() noexcept { ++marks_; }

  // Adds a field with that name, for which is_result() is true. Throws std::bad_alloc; then removal() is `unknown`.
  void add_result(std::string_view name);

  std::size_t marks() const noexcept { return marks_; }

  // In the order of their first fields; complete only if their removal is possible.
  std::span<const Name> results() const noexcept { return names_; }

  std::size_t count(bool with_results) const noexcept { return marks_ + (with_results ? results_ : 0); }

  // Whether the marks, and on request the results too, can be removed.
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
