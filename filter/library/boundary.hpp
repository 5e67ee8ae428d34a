// The boundary between C++ and who calls the library: errors become codes, and a sentence that the thread keeps. Safe
// from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate::library {

// To be called while an exception is handled: keeps what it says for bloomgate_last_error(), and gives its code. Never
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

// Throws if a pointer that must lead somewhere does not.
void require_pointer(const void* pointer, const char* name);

// The text at `data`. Throws if there is none.
std::string_view text_at(const char* data, std::size_t bytes, const char* name);

// A name of a file, which has no NUL in it. Throws for one that has.
std::string path_at(const char* data, std::size_t bytes, const char* name);

}  // namespace bloomgate::library
