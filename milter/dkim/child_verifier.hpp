// The verifier that the daemon uses. A child process (verifier_child.hpp) verifies the messages; if it crashes,
// ChildVerifier starts it again. If a message takes too long in the child, the child is ended too, since it may hang.
// Messages in progress are then not verified, so they go to the deeper checks.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "milter/dkim/verifier.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

class ChildVerifier : public Verifier {
 public:
  struct Options {
    VerifyRules rules = {};
    ResolverOptions resolver = {};
    // How long the child may take for a piece of a message, and for the end of the message, beyond the time for keys.
    // Together the two are less than the 10 s that the shipped files allow a milter.
    std::chrono::milliseconds patience{4'000};
    std::string program = "/proc/self/exe";
  };
  struct Reports {
    std::function<void(const std::string&)> on_fault = nullptr;  // the child has ended; called by a separate thread
    std::function<void()> before_waiting = nullptr;              // a session is about to wait for the child
    ResolverReports names = {};                                  // of the child's resolver; called by that thread, too
  };

  // Starts the child. Throws BloomgateError, with the child's reason, if the child cannot do its work.
  ChildVerifier(Options options, Reports reports);
  ~ChildVerifier() override;

  std::unique_ptr<Verification> begin(const VerifyRequest& request) override;

  // From where the child gets keys, for the log.
  const std::string& description() const noexcept;

  // The process ID of the child.
  pid_t child() const noexcept;

 private:
  class Child;
  class Message;

  Options options_;
  std::unique_ptr<Child> child_;
};

}  // namespace bloomgate
