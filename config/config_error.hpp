// What is wrong with the configuration, and where: in a file, or on the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"

namespace bloomgate {

// Where an option was given. An empty path means the command line.
struct ConfigPlace {
  std::string path = {};
  unsigned line = 0;  // counted from 1; 0: the file as a whole
};

class ConfigError : public BloomgateError {
 public:
  ConfigError(ErrorCode code, const std::string& text, const ConfigPlace& place)
      : BloomgateError(code, text, {.path = place.path}), line_(place.line) {}
  unsigned line() const noexcept { return line_; }

 private:
  unsigned line_;
};

// The error to throw: bad_argument on the command line, else bad_configuration with the path. `option` is its name
// without dashes, or empty if no single option is to blame. `fault` says what was expected and what was found; place
// and option are put before it.
ConfigError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault);

// Several of them: what() has them in one line, texts() each by itself.
class ConfigErrors : public BloomgateError {
 public:
  // `errors` has at least one.
  explicit ConfigErrors(const std::vector<ConfigError>& errors);
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Collects what is wrong with a configuration, so that an operator reads of all of it at once.
class ConfigFaults {
 public:
  // Enough for a person.
  static constexpr std::size_t kMostTold = 20;
  // A file of another kind may have any number.
  static constexpr std::size_t kMostKept = 1000;

  // Runs a part of the reading. A ConfigError is kept, and the next part can be tried.
  void collect(const std::function<void()>& part);

  // The only error as it came, or ConfigErrors: the command line's first, then the file's in the order of its lines.
  void throw_if_any() const;

 private:
  std::vector<ConfigError> errors_;
  std::size_t more_ = 0;
};

// `text` in quotes, for a message: printable, and cut off where it is too long for a line.
std::string quoted(std::string_view text);

}  // namespace bloomgate
