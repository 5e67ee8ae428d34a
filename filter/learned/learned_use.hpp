// Shows which forgets each daemon that uses a learned file has applied, so that `bloomgate learned forget` can wait
// until no daemon uses what was forgotten.
//
// A daemon holds a lock on one byte of the empty file FILE-use (fcntl(2), open file description locks). The offset of
// that byte is the count of forgets that the daemon's memory has applied. The system ends the lock with the process, so
// a crash leaves nothing to clean up. The locks are not in the database itself: a process that closes another
// descriptor of that file ends the locks that SQLite holds on it.
#pragma once

#include <cstdint>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// For one thread.
class LearnedUse {
 public:
  // `path` is the learned file's. No forget is in force yet. Throws BloomgateError{cannot_write}.
  explicit LearnedUse(const std::string& path);

  // The daemon has applied the first `forgets` forgets. Throws BloomgateError{cannot_write}.
  void set_applied(std::int64_t forgets);

 private:
  std::string path_;
  FileDescriptor file_;
};

enum class ForgetState : std::uint8_t {
  in_force,   // each daemon that uses the file has applied that forget
  no_daemon,  // no daemon uses the file
  not_yet,
};

// The state of the forget that made the count `forgets`, which is at least 1. Throws BloomgateError{cannot_open,
// cannot_read}.
ForgetState forget_state(const std::string& path, std::int64_t forgets);

}  // namespace bloomgate
