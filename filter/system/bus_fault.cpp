#include "filter/system/bus_fault.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

// One guarded mapping. The handler may run in any thread at any moment, so all it reads is lock-free atomics. Setting
// `taken` reserves a slot. The slot is live from the moment that `end` is set until `end` is cleared; `begin` is only
// read while it is live.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> faulted{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Slot, kMaxGuardedMappings> slots;
std::uintptr_t page_bytes = 4096;
// The earlier action for SIGBUS: the default, unless a program that uses the library has its own handler.
struct sigaction earlier_action = {};

// Replaces the page around `address` by zeros. Uses the bare system call, since mmap(2) is not on POSIX's list of
// async-signal-safe functions, and since ThreadSanitizer treats the C library's mmap as a write that races with
// look-ups. SIGBUS here is synchronous: it was raised by our own load.
bool put_zero_page(std::uintptr_t address) noexcept {
  const std::uintptr_t page = address & ~(page_bytes - 1);
  constexpr int kFlags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(__LP64__) && !defined(__s390x__)
  return syscall(SYS_mmap, page, page_bytes, PROT_READ, kFlags, -1, 0L) == static_cast<long>(page);
#else  // there the call has another form (on s390x one argument, a struct), or another name
  void* const at = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
  return mmap(at, page_bytes, PROT_READ, kFlags, -1, 0) == at;
#endif
}

void on_bus_fault(int signal, siginfo_t* info, void* /*context*/) noexcept {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (address < end && address >= slot.begin.load(std::memory_order_relaxed) && put_zero_page(address)) {
      slot.faulted.store(true, std::memory_order_release);
      errno = saved_errno;
      return;
    }
  }
  // Not our fault: restores the earlier action, which then handles the faulting instruction when it runs again.
  sigaction(signal, &earlier_action, nullptr);
  errno = saved_errno;
}

std::size_t take_slot() {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    bool expected = false;
    if (slots[i].taken.compare_exchange_strong(expected, true)) return i;
  }
  throw BloomgateError(ErrorCode::too_many_mappings,
                       "more than " + std::to_string(kMaxGuardedMappings) + " filters are open at once; close some");
}

}  // namespace

void install_bus_fault_handler() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  struct sigaction earlier = {};
  if (sigaction(SIGBUS, &action, &earlier) != 0) {
    throw system_error(ErrorCode::cannot_open, "install a handler for", "SIGBUS", errno);
  }
  if (earlier.sa_sigaction != on_bus_fault) earlier_action = earlier;
}

GuardedMapping::GuardedMapping(const void* address, std::size_t bytes) : slot_(take_slot()) {
  Slot& slot = slots[slot_];
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  slot.faulted.store(false, std::memory_order_relaxed);
  slot.begin.store(begin, std::memory_order_relaxed);
  slot.end.store(begin + bytes, std::memory_order_release);
}

GuardedMapping::~GuardedMapping() {
  slots[slot_].end.store(0, std::memory_order_release);
  slots[slot_].taken.store(false, std::memory_order_release);
}

bool GuardedMapping::faulted() const noexcept {
  return slots[slot_].faulted.load(std::memory_order_acquire);
}

}  // namespace bloomgate
