// A process that can open nothing more, for tests. Not with AddressSanitizer: the UndefinedBehaviorSanitizer beside it
// opens a pipe to look at an object's type.
#pragma once

#include <sys/resource.h>

namespace bloomgate::test {

// No new descriptor can be made while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit standard_ones = {.rlim_cur = 3, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &standard_ones);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace bloomgate::test
