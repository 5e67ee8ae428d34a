// Verifies DKIM signatures (RFC 6376) of messages as they come: what Connection asks where decide() has a need. One
// Verification is one message: its header is given at the start, then its body in pieces, then the outcome is asked
// for.
//
// A Verifier is safe from any thread; a Verification is used by one thread at a time. No function but begin() throws.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "milter/fields/alignment.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/fields/signed_fields.hpp"

namespace bloomgate {

// Bounds on what one message costs. SECURITY.md says why.
inline constexpr std::size_t kMaxVerifiedSignatures = 4;  // each may have a name looked up
inline constexpr std::size_t kMaxOwnerRules = SignatureNeed::kSenders * kMaxVerifiedSignatures;
inline constexpr std::uint64_t kMaxVerifiedBodyBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxVerifiedLineBytes = std::size_t{1} << 20;  // the library keeps a whole line

struct VerifyRules {
  Alignment alignment = Alignment::parent;
  CoverRules cover = {};
  // How long a message waits for its keys, from the end of its header on.
  std::chrono::milliseconds dns_timeout{5000};
  // A message with more body than that is not verified.
  std::uint64_t max_body_bytes = kMaxVerifiedBodyBytes;
};

// A message of which some signatures are needed. The views need to be valid only during the call.
struct VerifyRequest {
  // The header fields in their order, each as it was sent: "Subject: it is\r\n\tfolded", without its last line end.
  std::span<const std::string_view> header = {};
  SignatureNeed need = {};
  // The age of signatures is counted up to here.
  std::chrono::sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
};

class Verification {
 public:
  virtual ~Verification() = default;

  // The next bytes of the body, lines ended by CR LF. Returns whether more of it is wanted.
  virtual bool add_body(std::string_view bytes) noexcept = 0;

  // Whether the outcome is known already, so that finish() takes no time.
  virtual bool is_over() const noexcept = 0;

  // The whole message was given. Waits for the keys. May be called once, and nothing after it.
  virtual Signatures finish() noexcept = 0;
};

// A verification whose outcome is known before it begins.
class KnownOutcome : public Verification {
 public:
  explicit KnownOutcome(Signatures signatures) noexcept : signatures_(std::move(signatures)) {}

  bool add_body(std::string_view) noexcept override { return false; }
  bool is_over() const noexcept override { return true; }
  Signatures finish() noexcept override { return std::move(signatures_); }

 private:
  Signatures signatures_;
};

class Verifier {
 public:
  virtual ~Verifier() = default;

  // Starts to look for the keys, and does not wait for them. Throws std::bad_alloc.
  virtual std::unique_ptr<Verification> begin(const VerifyRequest& request) = 0;
};

}  // namespace bloomgate
