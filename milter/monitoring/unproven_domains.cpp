#include "milter/monitoring/unproven_domains.hpp"

#include <algorithm>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

// The part after the last at sign of an address or a path, in lower case. Empty if there is no at sign.
template <std::size_t Size>
FixedText<Size> domain_of(std::string_view address) noexcept {
  FixedText<Size> domain;
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos) return domain;
  address.remove_prefix(at + 1);
  if (address.ends_with('>')) address.remove_suffix(1);
  for (const char byte : address) domain.append(ascii::to_lower(byte));
  return domain.overflowed() ? FixedText<Size>() : domain;
}

// For a listed tree its entry, "@.partner.example", since senders can invent any number of domains below it.
template <std::size_t Size>
FixedText<Size> listed_domain(std::string_view address, std::string_view entry) noexcept {
  if (!entry.starts_with("@.")) return domain_of<Size>(address);
  FixedText<Size> domain;
  domain.append(entry);
  return domain.overflowed() ? FixedText<Size>() : domain;
}

std::string_view address_of(const Facts& facts, const Decision& decision) noexcept {
  if (decision.identity == IdentityKind::envelope) return facts.envelope_sender.value_or("");
  return facts.header_from.address;
}

bool wants_a_proof(const Decision& decision) noexcept {
  if (decision.list.view().empty() || decision.identity == IdentityKind::mailing_list) return false;
  return decision.reason == Reason::not_authenticated || decision.reason == Reason::authentication_failed ||
         decision.reason == Reason::dmarc_fail;
}

}  // namespace

std::array<std::size_t, 2> UnprovenDomains::Proven::places_of(std::string_view domain) noexcept {
  constexpr std::uint64_t kSeed = 0;  // a sender who finds two domains of one slot hides only one of their own
  const std::uint64_t hash = hash_key(domain, kSeed);
  return {static_cast<std::size_t>(hash % kBits), static_cast<std::size_t>((hash >> 32) % kBits)};
}

void UnprovenDomains::Proven::add(std::string_view domain) noexcept {
  for (const std::size_t place : places_of(domain)) {
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    // Most bits are already set, and a read leaves the cache line to the other threads.
    if ((words_[place / 64].load(std::memory_order_relaxed) & bit) != 0) continue;
    words_[place / 64].fetch_or(bit, std::memory_order_relaxed);
  }
}

bool UnprovenDomains::Proven::may_contain(std::string_view domain) const noexcept {
  return std::ranges::all_of(places_of(domain), [this](std::size_t place) {
    return (words_[place / 64].load(std::memory_order_relaxed) >> (place % 64) & 1) != 0;
  });
}

void UnprovenDomains::note(const Facts& facts, const Decision& decision) noexcept {
  const bool is_proven = decision.verdict == Verdict::deliver && decision.method.has_value();
  if (!is_proven && !wants_a_proof(decision)) return;
  const auto domain = listed_domain<kMostDomainBytes>(address_of(facts, decision), decision.entry.view());
  if (domain.view().empty()) return;
  if (is_proven) return proven_.add(domain.view());
  if (proven_.may_contain(domain.view())) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  auto place = std::ranges::find_if(
      seen_, [&](const Seen& seen) { return seen.messages != 0 && seen.domain.view() == domain.view(); });
  if (place == seen_.end()) {
    place = std::ranges::min_element(seen_, {}, &Seen::messages);
    *place = {.domain = domain};
  }
  ++place->messages;
  place->signature = decision.signature;
  place->is_envelope_alone = decision.is_envelope_alone;
}

void UnprovenDomains::begin_again() noexcept {
  const std::lock_guard lock(mutex_);
  seen_ = {};
}

std::vector<UnprovenDomain> UnprovenDomains::all() const {
  std::vector<UnprovenDomain> all;
  all.reserve(kDomains);  // so that sessions find the lock held as briefly as possible
  {
    const std::lock_guard lock(mutex_);
    for (const Seen& each : seen_) {
      if (each.messages < kFewest || proven_.may_contain(each.domain.view())) continue;
      std::string reason = each.is_envelope_alone ? "the From mailbox is another one"
                           : each.signature       ? std::string(signature_outcome_name(*each.signature))
                                                  : "no trusted result";
      all.push_back({std::string(each.domain.view()), each.messages, std::move(reason)});
    }
  }
  std::ranges::sort(all, std::ranges::greater(), &UnprovenDomain::messages);
  return all;
}

}  // namespace bloomgate
