#include "milter/monitoring/last_decisions.hpp"

#include <algorithm>

#include "filter/base/printable.hpp"

namespace bloomgate {

MaskedAddress::MaskedAddress(std::string_view address) noexcept {
  if (address.starts_with('<')) address.remove_prefix(1);
  if (address.ends_with('>')) address.remove_suffix(1);
  if (address.empty()) {
    kind_ = Kind::null_sender;
    return;
  }
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos) {
    kind_ = Kind::without_domain;
    return;
  }
  kind_ = Kind::with_domain;
  // The only letter of a local part would reveal all of it.
  if (at > 1 && address.front() > ' ' && address.front() <= '~') first_ = address.front();
  domain_.append(address.substr(at + 1));
}

std::string MaskedAddress::text() const {
  constexpr std::string_view kEllipsis = "\u2026";
  switch (kind_) {
    case Kind::none:
      return "-";
    case Kind::null_sender:
      return "<>";
    case Kind::without_domain:
      return std::string(kEllipsis);
    case Kind::with_domain:
      break;
  }
  std::string text = first_ == 0 ? "" : std::string(1, first_);
  text.append(kEllipsis).append("@").append(printable(domain_.view()));
  if (domain_.overflowed()) text.append(kEllipsis);
  return text;
}

void LastDecisions::note(const Facts& facts, const Decision& decision, std::string_view queue_id,
                         bool is_refused) noexcept {
  SeenDecision seen = {.at = std::chrono::system_clock::now(),
                       .is_refused = is_refused,
                       .verdict = decision.verdict,
                       .reason = decision.reason,
                       .identity = decision.identity,
                       .list = decision.list};
  seen.queue_id.append(queue_id);
  if (facts.envelope_sender) seen.sender = MaskedAddress(*facts.envelope_sender);
  if (!facts.header_from.address.empty()) seen.header_from = MaskedAddress(facts.header_from.address);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) ring_[noted_++ % kCount] = seen;
}

std::vector<SeenDecision> LastDecisions::all() const {
  std::vector<SeenDecision> all;
  all.reserve(kCount);  // so that sessions find the lock held as briefly as possible
  const std::lock_guard lock(mutex_);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(noted_, kCount); ++i) {
    all.push_back(ring_[(noted_ - 1 - i) % kCount]);
  }
  return all;
}

}  // namespace bloomgate
