// Listed domains that send mail, and of which no message was ever proven: their senders do not sign, or somebody forges
// them. Bounded whatever comes.
//
// Safe from any thread. Noting never waits: where two threads come at the very same moment, a message is left out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "filter/base/fixed_text.hpp"
#include "milter/health/health_facts.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"

namespace bloomgate {

class UnprovenDomains {
 public:
  static constexpr std::size_t kDomains = 256;
  // Fewer messages than these tell nothing of a domain.
  static constexpr std::uint64_t kFewest = 5;

  void note(const Facts& facts, const Decision& decision) noexcept;

  // Other lists are in use: what was listed may be so no longer.
  void begin_again() noexcept;

  // Those with the most messages first. Throws std::bad_alloc.
  std::vector<UnprovenDomain> all() const;

 private:
  // No domain is longer (RFC 1035 section 2.3.4); and "@." before it.
  static constexpr std::size_t kMostDomainBytes = 255;

  struct Seen {
    FixedText<kMostDomainBytes> domain = {};
    std::uint64_t messages = 0;  // 0: a free place
    std::optional<SignatureOutcome> signature = {};
    bool is_envelope_alone = false;
  };

  // A small Bloom filter of the domains that were proven: one that is taken for proven by mistake is not named.
  class Proven {
   public:
    void add(std::string_view domain) noexcept;
    bool may_contain(std::string_view domain) const noexcept;

   private:
    static constexpr std::size_t kWords = 8192, kBits = 64 * kWords;
    static std::array<std::size_t, 2> places_of(std::string_view domain) noexcept;
    std::array<std::atomic<std::uint64_t>, kWords> words_ = {};
  };

  Proven proven_;
  mutable std::mutex mutex_;
  std::array<Seen, kDomains> seen_ = {};
};

}  // namespace bloomgate
