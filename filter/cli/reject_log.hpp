// What becomes of the bad lines of a list: counted, the first ones shown, all of them kept in a file if asked.
//
// The reject file is itself a list: each bad line as it was, below a comment that says where it came from and why it
// was left out, so that it can be corrected and fed to `bloomgate build` again. Not thread-safe.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "filter/address.hpp"
#include "filter/cli/text_input.hpp"

namespace bloomgate::cli {

class RejectLog {
 public:
  static constexpr std::uint64_t kShown = 10;  // lines shown on standard error

  // An empty path keeps no file. Throws BloomgateError{cannot_write}.
  explicit RejectLog(const std::string& path);
  // Removes the file unless keep() was called: a build that fails leaves nothing behind.
  ~RejectLog();
  RejectLog(const RejectLog&) = delete;
  RejectLog& operator=(const RejectLog&) = delete;

  void add(const InputLine& line, RejectReason reason);
  std::uint64_t count() const noexcept { return count_; }

  // Completes the file and lets it stay. Throws BloomgateError{cannot_write}.
  void keep();

 private:
  std::string path_;
  std::ofstream file_;
  std::uint64_t count_ = 0;
};

}  // namespace bloomgate::cli
