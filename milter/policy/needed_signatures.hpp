// Which signatures a checked message needs: those without which it is not delivered and with which it is, or would be
// if each sender and mailing list with a neighbour among the entries were listed. So the look-ups reveal that some
// address is listed at a domain, and not which. Part of decide(), whose header has the rules. Pure, noexcept; allocates
// nothing. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "milter/fields/grounds.hpp"
#include "milter/policy/decider.hpp"
#include "milter/policy/decision.hpp"

namespace bloomgate {

class NeededSignatures {
 public:
  // All arguments must outlive the object. `decider` has decided to check the message; no signature of it is verified
  // yet.
  NeededSignatures(const Facts& facts, const Lists& lists, const Policy& policy, const Decider& decider) noexcept;

  // Notes each signature that is enough by itself, or else those of both senders together. If they deliver the message
  // only if a store confirms a hit, the store is asked first: reading a page of a file costs less than a DNS query and
  // a body.
  void note(Decision& decision) noexcept;

 private:
  static constexpr std::size_t kMostWays = 3;

  bool has_neighbours() const noexcept;
  bool would_deliver(const Proof::Supposed& signers) noexcept;
  std::span<const std::string_view> wanted() const noexcept { return {wanted_.data(), wanted_count_}; }
  void want(std::span<const std::string_view> signers) noexcept;
  // Keeps only the wanted signers whose signature would deliver the message.
  void keep_useful_signers() noexcept;

  const Facts& facts_;
  const Lists& lists_;
  const Policy& policy_;
  const Decider& decider_;
  std::array<Way, kMostWays> ways_ = {};  // for which a neighbour needs a signature
  std::size_t way_count_ = 0;
  std::array<std::string_view, Grounds::kMostSigners> wanted_ = {};  // among those of the grounds
  std::size_t wanted_count_ = 0;
  std::optional<StoreQuestion> question_ = {};
};

}  // namespace bloomgate
