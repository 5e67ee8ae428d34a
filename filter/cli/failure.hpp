// What an exception that ends a command means: a sentence and an exit status, the same for all programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace bloomgate::cli {

enum class FailureKind : std::uint8_t { usage, other };  // usage: --help shows what would have been right

// Calls `say` with a sentence about the exception that is being handled, and returns the exit status for it. Only
// within a handler.
int explain_failure(const std::function<void(std::string_view what, FailureKind kind)>& say);

}  // namespace bloomgate::cli
