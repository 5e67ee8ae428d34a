// A part of systemd's journal, as text: journalctl prints it. For one thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class Journal {
 public:
  // Starts journalctl, looked up in PATH, without a shell. `part` are its options that say which lines: units, and from
  // when on. Throws BloomgateError{cannot_open}.
  explicit Journal(const std::vector<std::string>& part);
  // Ends it.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A path under which this process can read what it prints, once.
  std::string path() const;

  // After all of that is read. Throws BloomgateError{cannot_read} if it did not end well; what it complains about goes
  // to our own standard error.
  void finish();

 private:
  int wait() noexcept;

  FileDescriptor output_;
  pid_t process_ = -1;
};

}  // namespace bloomgate
