// The verifier that uses libopendkim, with keys from a Resolver. All work of the library happens in the calling thread,
// and a crash inside the library ends the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "milter/dkim/verifier.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

class LibraryVerifier : public Verifier {
 public:
  // If more messages are verified at once, the further ones are too_busy. Each holds a header of at most 256 KiB twice.
  static constexpr std::size_t kMaxAtOnce = 512;

  // `resolver` must outlive the object. Throws BloomgateError{library_failed}.
  LibraryVerifier(const VerifyRules& rules, Resolver& resolver);
  ~LibraryVerifier() override;

  std::unique_ptr<Verification> begin(const VerifyRequest& request) override;

 private:
  class Library;
  class Message;

  VerifyRules rules_;
  Resolver& resolver_;
  std::unique_ptr<Library> library_;
  std::atomic<std::size_t> under_way_{0};
};

}  // namespace bloomgate
