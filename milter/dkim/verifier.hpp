// Verifies DKIM signatures (RFC 6376) of messages as they arrive. Connection uses it if decide() needs signatures. One
// Verification is one message: the header is given at the start, then the body in pieces, then the caller asks for the
// outcome.
//
// A Verifier is safe from any thread; a Verification is used by one thread at a time. Only begin() throws.
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
inline constexpr std::size_t kMaxVerifiedSignatures = 4;  // each may cause a look-up
inline constexpr std::size_t kMaxOwnerRules = SignatureNeed::kSenders * kMaxVerifiedSignatures;
inline constexpr std::uint64_t kMaxVerifiedBodyBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxVerifiedLineBytes = std::size_t{1} << 20;  // the library keeps a whole line

struct VerifyRules {
  Alignment alignment = Alignment::parent;
  CoverRules cover = {};
  // How long a message waits for its keys, from the end of its header.
  std::chrono::milliseconds dns_timeout{5000};
  // A message with a larger body is not verified.
  std::uint64_t max_body_bytes = kMaxVerifiedBodyBytes;
};

// A message of which some signatures are needed. The views need only be valid during the call.
struct VerifyRequest {
  // The header fields in their order, each as it was sent: "Subject: it is\r\n\tfolded", without its last line end.
  std::span<const std::string_view> header = {};
  SignatureNeed need = {};
  // The time at which the age of signatures is computed.
  std::chrono::sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
};

class Verification {
 public:
  virtual ~Verification() = default;

  // The next bytes of the body, with lines ended by CR LF. Returns whether more of the body is needed.
  virtual bool add_body(std::string_view bytes) noexcept = 0;

  // Whether the outcome is already known, so that finish() does not have to wait.
  virtual bool is_over() const noexcept = 0;

  // To be called once, after the whole message was given; no other call may follow. Waits for the keys.
  virtual Signatures finish() noexcept = 0;
};

// A verification whose outcome is known from the start.
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

  // Starts the look-ups of the keys, and does not wait for them. Throws std::bad_alloc.
  virtual std::unique_ptr<Verification> begin(const VerifyRequest& request) = 0;
};

}  // namespace bloomgate
