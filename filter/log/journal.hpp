// A part of systemd's journal, as text: journalctl prints it. For one thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class Journal {
 public:
  // Starts journalctl, looked up in PATH, without a shell. `part` has its options that select lines: units, and a
  // start. Throws BloomgateError{cannot_open}.
  explicit Journal(const std::vector<std::string>& part);
  // Ends journalctl.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A path under which this process can read journalctl's output, once.
  std::string path() const;

  // Call it when all of that was read. Throws BloomgateError{cannot_read} if journalctl failed; its error messages go
  // to our own standard error.
  void finish();

 private:
  int wait() noexcept;

  FileDescriptor output_;
  pid_t process_ = 0;  // none: a signal to -1 would go to every process
};

}  // namespace bloomgate
