// The verifier that the daemon uses: it has messages verified by a child process (verifier_child.hpp), and starts the
// child again when that has crashed. If a message takes too long there, the child is ended too, since it may hang; the
// messages under way are then not verified, which sends them to the deeper checks.
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
    // How long a child may take for a piece of a message, and for its end beyond the time for keys. Both together are
    // less than the 10 s that the shipped files give a milter.
    std::chrono::milliseconds patience{4'000};
    std::string program = "/proc/self/exe";
  };
  struct Reports {
    std::function<void(const std::string&)> on_fault = nullptr;  // the child has ended; from a thread of its own
    std::function<void()> before_waiting = nullptr;              // a session is about to wait for the child
    ResolverReports names = {};                                  // of the child's resolver; from that thread, too
  };

  // Starts the child. Throws BloomgateError if it cannot do its work, with its reason.
  ChildVerifier(Options options, Reports reports);
  ~ChildVerifier() override;

  std::unique_ptr<Verification> begin(const VerifyRequest& request) override;

  // Where the child finds keys, for the log.
  const std::string& description() const noexcept;

  // The process of the child.
  pid_t child() const noexcept;

 private:
  class Child;
  class Message;

  Options options_;
  std::unique_ptr<Child> child_;
};

}  // namespace bloomgate
