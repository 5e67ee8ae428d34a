// The boundary between C++ and the callers of the library: errors become codes, and a sentence that the thread keeps.
// Safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate::library {

// Call it while an exception is handled: keeps its message for bloomgate_last_error(), and returns its code. Never
// allocates.
int note_failure() noexcept;

// The only place where exceptions are caught.
template <typename Action>
int guarded(Action action) noexcept {
  try {
    action();
    return 0;
  } catch (...) {
    return note_failure();
  }
}

// The sentence that was kept last in this thread.
const char* last_failure() noexcept;

// Throws BloomgateError{bad_argument} that says `what`.
[[noreturn]] void refuse(const std::string& what);

// Throws if a required pointer is null.
void require_pointer(const void* pointer, const char* name);

// The text at `data`. Throws if the pointer is null.
std::string_view text_at(const char* data, std::size_t bytes, const char* name);

// The name of a file. Throws if it has a NUL.
std::string path_at(const char* data, std::size_t bytes, const char* name);

}  // namespace bloomgate::library
