// The last decisions, for the status page. An address is masked before it is stored: `j…@example.org`. So neither the
// page nor the memory behind it reveals who writes, only from which domain.
//
// Safe from any thread. note() never waits: if two messages call it at the same moment, or the page is just being made,
// a decision is omitted.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/fixed_text.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"

namespace bloomgate {

// An address of which only the domain and the first letter of the local part are kept.
class MaskedAddress {
 public:
  static constexpr std::size_t kMostDomainBytes = 64;

  MaskedAddress() = default;  // for no address
  // `address` may be a path, `<joe@example.org>`, and may contain any bytes; the text after its last at sign is its
  // domain.
  explicit MaskedAddress(std::string_view address) noexcept;

  // "j…@example.org", "<>" for the null sender, "…" without an at sign, "-" for no address. Any byte but printable
  // ASCII is escaped, and a long domain is cut off. The caller has to escape it for HTML. Throws std::bad_alloc.
  std::string text() const;

 private:
  enum class Kind : std::uint8_t { none, null_sender, without_domain, with_domain };

  Kind kind_ = Kind::none;
  char first_ = 0;  // 0: no letter that can be shown
  FixedText<kMostDomainBytes> domain_ = {};
};

// A longer queue ID is cut off.
inline constexpr std::size_t kMostQueueIdBytes = 32;

struct SeenDecision {
  std::chrono::system_clock::time_point at = {};
  MaskedAddress sender = {};
  MaskedAddress header_from = {};
  bool is_refused = false;  // for its forged fields
  Verdict verdict = Verdict::check;
  Reason reason = Reason::internal_error;
  IdentityKind identity = IdentityKind::none;
  FixedText<kMaxListNameBytes> list = {};
  FixedText<kMostQueueIdBytes> queue_id = {};
};

class LastDecisions {
 public:
  static constexpr std::size_t kCount = 50;

  void note(const Facts& facts, const Decision& decision, std::string_view queue_id, bool is_refused) noexcept;

  // The latest first. Throws std::bad_alloc.
  std::vector<SeenDecision> all() const;

 private:
  mutable std::mutex mutex_;
  std::array<SeenDecision, kCount> ring_ = {};
  std::uint64_t noted_ = 0;
};

}  // namespace bloomgate
