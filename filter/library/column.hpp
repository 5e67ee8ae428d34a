// A column of texts in the form of Apache Arrow: the texts in sequence, and where each begins. A value that owns
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/library/boundary.hpp"

namespace bloomgate::library {

template <typename Offset>
class Column {
 public:
  // Checks all offsets. Throws BloomgateError{bad_argument} if one is less than the one before it, or past the end.
  Column(const char* data, std::size_t data_bytes, const Offset* offsets, std::size_t count)
      : data_(data), offsets_(offsets) {
    if (count == 0) return;
    require_pointer(offsets, "offsets");
    if (data_bytes != 0) require_pointer(data, "data");
    if (offsets[0] < 0) refuse("the first offset is negative");
    for (std::size_t i = 0; i < count; ++i) {
      if (offsets[i + 1] < offsets[i]) refuse("offset " + std::to_string(i + 1) + " is less than the one before it");
    }
    if (static_cast<std::uint64_t>(offsets[count]) > data_bytes) refuse("the last offset is past the end of the data");
  }

  std::string_view operator[](std::size_t i) const noexcept {
    return {data_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }

 private:
  const char* data_;
  const Offset* offsets_;
};

}  // namespace bloomgate::library
