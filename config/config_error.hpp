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

// Makes the error to throw: bad_argument on the command line, else bad_configuration with the path. `option` is the
// option's name without dashes, or empty if no single option is at fault. `fault` says what was expected and what was
// found; what() begins with the place and the option.
ConfigError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault);

// Several errors in one exception: what() has all of them in one line, texts() has each one separately.
class ConfigErrors : public BloomgateError {
 public:
  // `errors` has at least one.
  explicit ConfigErrors(const std::vector<ConfigError>& errors);
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Collects all faults of a configuration, so that an operator sees them in one report.
class ConfigFaults {
 public:
  // How many faults are reported at most: enough for a person to read.
  static constexpr std::size_t kMostTold = 20;
  // How many faults are stored at most: a file that is no configuration at all may have any number of them.
  static constexpr std::size_t kMostKept = 1000;

  // Runs one part of the reading. If the part throws a ConfigError, the error is stored, and the caller can run the
  // next part.
  void collect(const std::function<void()>& part);

  // Throws the only error unchanged, or several as ConfigErrors: first those of the command line, then those of the
  // file in the order of its lines. Returns if there is none.
  void throw_if_any() const;

 private:
  std::vector<ConfigError> errors_;
  std::size_t more_ = 0;
};

// Returns `text` in quotes, for a message: printable, and cut off where it is too long for a line.
std::string quoted(std::string_view text);

}  // namespace bloomgate
