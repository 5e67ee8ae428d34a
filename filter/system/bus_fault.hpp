// Survives SIGBUS: the kernel raises it when a mapped page no longer has a file behind it (the file was truncated) or
// cannot be read (the disk failed). The handler maps zero pages there, so the look-up that met the fault finds no bit
// set. The sender then counts as not listed, which is the safe side.
//
// A program calls install_bus_fault_handler() once, at the start of main(), before it opens a filter. MappedFilter
// registers each mapping here. A SIGBUS anywhere else has its former effect, which usually ends the program.
#pragma once

#include <atomic>
#include <cstddef>

namespace bloomgate {

inline constexpr std::size_t kMaxGuardedMappings = 256;

// Not thread-safe: call it before other threads start. Replaces the process's SIGBUS action, and restores it at the
// first fault elsewhere. Throws BloomgateError{cannot_open} if sigaction(2) refuses.
void install_bus_fault_handler();

// Registers a mapping for as long as the object lives. Construction and destruction are safe from any thread; the
// destructor must run before munmap. The constructor throws BloomgateError{too_many_mappings} if kMaxGuardedMappings
// are live.
class GuardedMapping {
 public:
  GuardedMapping(const void* address, std::size_t bytes);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  // Whether a fault occurred in this mapping. Safe from any thread.
  bool faulted() const noexcept;

 private:
  std::size_t slot_;
};

}  // namespace bloomgate
