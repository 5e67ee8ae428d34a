// Listed domains that send mail of which no message was ever authenticated: their senders do not sign, or the mail is
// forged. Memory is bounded.
//
// Safe from any thread. note() never waits: if two threads call it at the same moment, a message is omitted.
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
  // With fewer messages, nothing is said about a domain.
  static constexpr std::uint64_t kFewest = 5;

  void note(const Facts& facts, const Decision& decision) noexcept;

  // To be called when other lists are in use: a domain may no longer be listed.
  void begin_again() noexcept;

  // The domains with the most messages first. Throws std::bad_alloc.
  std::vector<UnprovenDomain> all() const;

 private:
  // The most bytes of a domain (RFC 1035 section 2.3.4), which is longer than "@." and any domain.
  static constexpr std::size_t kMostDomainBytes = 255;

  struct Seen {
    FixedText<kMostDomainBytes> domain = {};
    std::uint64_t messages = 0;  // 0: a free slot
    std::optional<SignatureOutcome> signature = {};
    bool is_envelope_alone = false;
  };

  // A small Bloom filter of the authenticated domains: a false positive means that a domain is not reported.
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
