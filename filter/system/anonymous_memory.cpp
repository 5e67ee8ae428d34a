#include "filter/system/anonymous_memory.hpp"

#include <sys/mman.h>

#include <limits>
#include <string>
#include <utility>

#include "filter/base/error.hpp"

namespace bloomgate {

AnonymousMemory::AnonymousMemory(std::uint64_t bytes, const char* purpose) {
  void* address = MAP_FAILED;
  if (bytes <= std::numeric_limits<std::size_t>::max()) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (address == MAP_FAILED) {
    throw BloomgateError(ErrorCode::out_of_memory,
                         "cannot have " + std::to_string(bytes) + " bytes of memory for " + purpose);
  }
  data_ = static_cast<std::byte*>(address);
  size_ = static_cast<std::size_t>(bytes);
  // Optional: without huge pages everything works the same, but slower.
  madvise(data_, size_, MADV_HUGEPAGE);
}

AnonymousMemory::AnonymousMemory(AnonymousMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AnonymousMemory::~AnonymousMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace bloomgate
