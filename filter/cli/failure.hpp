// What an exception that ends a command means: a sentence and an exit status, the same for all programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filter/base/json.hpp"

namespace bloomgate::cli {

enum class FailureKind : std::uint8_t { usage, other };  // usage: --help shows what would have been right

struct Failure {
  std::string what;  // a sentence
  FailureKind kind = FailureKind::other;
  int status = 0;              // with which the program ends
  std::string_view code = {};  // error_code_name(), "usage" or "internal_error"
  std::string path = {};       // of the file concerned, if it is one
  std::optional<std::uint64_t> offset = {};
};

// Of a command line that cannot be followed.
Failure usage_failure(std::string what);

// Of the exception that is being handled. Only within a handler.
Failure current_failure();

// {"error": {"code": "cannot_open", "message": "open a.bloom: No such file or directory", "path": "a.bloom",
// "offset": null}}
Json json_of(const Failure& failure);

}  // namespace bloomgate::cli
