// Sets the largest file that this process may write, and sets it back: what a full disk is, for one test.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace bloomgate::test {

class LargestFile {
 public:
  explicit LargestFile(rlim_t bytes) : action_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LargestFile() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, action_);
  }
  LargestFile(const LargestFile&) = delete;
  LargestFile& operator=(const LargestFile&) = delete;

 private:
  rlimit before_ = {};
  void (*action_)(int);
};

}  // namespace bloomgate::test
