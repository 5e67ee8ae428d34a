// Zeroed memory for large arrays, in huge pages if the system has them. Not thread-safe; movable, not copyable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

class AnonymousMemory {
 public:
  // Throws BloomgateError{out_of_memory} if the address space or a limit does not allow it; `purpose` is for the
  // message. A page takes memory when it is first touched.
  AnonymousMemory(std::uint64_t bytes, const char* purpose);
  AnonymousMemory(AnonymousMemory&& other) noexcept;
  AnonymousMemory& operator=(AnonymousMemory&&) = delete;
  AnonymousMemory(const AnonymousMemory&) = delete;
  AnonymousMemory& operator=(const AnonymousMemory&) = delete;
  ~AnonymousMemory();

  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;  // page-aligned
  std::size_t size_ = 0;
};

}  // namespace bloomgate
