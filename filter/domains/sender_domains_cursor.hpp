// Iterates over the domains of a section in ascending order, with one group in memory at a time. For one thread; the
// section must outlive it. If there is no section, it has no domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "filter/domains/sender_domains.hpp"

namespace bloomgate {

class SenderDomainsCursor {
 public:
  explicit SenderDomainsCursor(const SenderDomains& domains) : domains_(&domains) { fill(); }

  // Nothing if there are no more.
  std::optional<DomainNumber> peek() const noexcept {
    return at_ < group_.size() ? std::optional(group_[at_]) : std::nullopt;
  }
  void advance() {
    ++at_;
    fill();
  }

 private:
  void fill() {
    while (domains_->is_there() && at_ == group_.size() && next_group_ != domains_->coding().groups()) {
      group_.clear();
      at_ = 0;
      // An unverified section may have a group that violates the format. The cursor then uses what it could decode.
      domains_->decode_group(next_group_++, group_);
    }
  }

  const SenderDomains* domains_;
  std::uint64_t next_group_ = 0;
  std::vector<DomainNumber> group_;
  std::size_t at_ = 0;
};

}  // namespace bloomgate
