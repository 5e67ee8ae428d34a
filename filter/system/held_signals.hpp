// While it lives, the thread that made it takes no signal, and the threads that it starts never do. Signals are for the
// main thread. SIGBUS and its like come from what a thread itself does, and still come through.
#pragma once

#include <csignal>
#include <initializer_list>

namespace bloomgate {

class HeldSignals {
 public:
  HeldSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace bloomgate
