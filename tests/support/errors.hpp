// The errors that code under test throws.
#pragma once

#include <stdexcept>

#include "filter/base/error.hpp"

namespace bloomgate::test {

// Fails the test where `action` throws no such error.
template <typename Error = BloomgateError, typename Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no such error was thrown");
}

template <typename Action>
ErrorCode error_code_of(Action action) {
  return error_of(action).code();
}

}  // namespace bloomgate::test
