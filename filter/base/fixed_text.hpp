// Text of at most Capacity bytes, held in place. The canonicaliser's parts write into it, since they may not allocate.
// Not shared between threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace bloomgate {

template <std::size_t Capacity>
class FixedText {
 public:
  // Only the bytes in use are ever written, copied and read: a decision holds 2 KB of such texts, mostly empty.
  FixedText() noexcept {}  // NOLINT(modernize-use-equals-default): with "= default" `{}` would write zeros to all bytes
  FixedText(const FixedText& other) noexcept { *this = other; }
  FixedText& operator=(const FixedText& other) noexcept {
    size_ = other.size_;
    overflowed_ = other.overflowed_;
    // An object is not copied to itself: the ranges would overlap.
    if (this != &other) std::copy_n(other.bytes_.data(), size_, bytes_.data());
    return *this;
  }
  ~FixedText() = default;

  // Text that does not fit is dropped, and the object remembers that.
  void append(char byte) noexcept {
    if (size_ == Capacity) {
      overflowed_ = true;
    } else {
      bytes_[size_++] = byte;
    }
  }

  void append(std::string_view text) noexcept {
    const std::size_t fitting = std::min(text.size(), Capacity - size_);
    std::copy_n(text.data(), fitting, bytes_.data() + size_);
    size_ += fitting;
    overflowed_ = overflowed_ || fitting < text.size();
  }

  bool overflowed() const noexcept { return overflowed_; }
  std::string_view view() const noexcept { return {bytes_.data(), size_}; }

  friend bool operator==(const FixedText& a, const FixedText& b) noexcept { return a.view() == b.view(); }

 private:
  std::array<char, Capacity> bytes_;
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

}  // namespace bloomgate
