// Which forgets the daemons that have a learned file in use go by, so that `bloomgate learned forget` can wait until no
// daemon uses what was forgotten.
//
// A daemon holds a lock on one byte of the empty file FILE-use (fcntl(2), open file description locks): the offset of
// that byte is the count of the forgets that the daemon's memory goes by. The system ends the lock with the process, so
// nothing has to be cleaned up after a crash. The locks are not in the database itself: a process that closes another
// descriptor of that file ends the locks that SQLite holds on it.
#pragma once

#include <cstdint>
#include <string>

#include "filter/base/file_descriptor.hpp"

namespace bloomgate {

// For one thread.
class LearnedUse {
 public:
  // `path` is the learned file's. No forget is in force yet. Throws BloomgateError{cannot_write}.
  explicit LearnedUse(const std::string& path);

  // From now on the daemon goes by so many forgets. Throws BloomgateError{cannot_write}.
  void go_by(std::int64_t forgets);

 private:
  std::string path_;
  FileDescriptor file_;
};

enum class ForgetState : std::uint8_t {
  in_force,   // each daemon that uses the file goes by that forget
  no_daemon,  // no daemon uses the file
  not_yet,
};

// The state of the forget that made the count `forgets`, which is at least 1. Throws BloomgateError{cannot_open,
// cannot_read}.
ForgetState forget_state(const std::string& path, std::int64_t forgets);

}  // namespace bloomgate
