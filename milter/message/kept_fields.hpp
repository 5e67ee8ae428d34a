// The values of some header fields of one message, or of its recipients, kept until its end in one block of memory,
// which the next message reuses. The total is bounded, since a message may have any number of them. Used by
// MessageRecorder, in one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

class KeptFields {
 public:
  struct Limits {
    std::size_t fields;
    std::size_t bytes_each;  // a longer value is cut off after them
    std::size_t bytes;       // of all values together
  };

  explicit KeptFields(Limits limits) noexcept : limits_(limits) {}

  // Returns false and keeps nothing if there are already too many. Throws std::bad_alloc; then only clear() may follow.
  bool add(std::string_view value);

  void clear() noexcept;

  // In the order in which they were added. Throws std::bad_alloc.
  std::vector<std::string> copies() const;

  // The same without copies. Valid until the next non-const call. Throws std::bad_alloc.
  std::span<const std::string_view> views();

 private:
  Limits limits_;
  std::string text_;
  std::vector<std::size_t> ends_;  // of each value in text_
  std::vector<std::string_view> views_;
};

}  // namespace bloomgate
