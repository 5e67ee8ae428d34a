// As long as the object lives, the thread that made it gets no signal; threads that it starts never get any. Signals
// are for the main thread. SIGBUS and similar signals, which a thread itself causes, still come through.
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
