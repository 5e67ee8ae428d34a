#include "filter/domains/sender_domains_encoder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"

namespace bloomgate {

namespace {

[[noreturn]] void refuse_full_bucket() {
  throw BloomgateError(
      ErrorCode::bad_input,
      "more than " + std::to_string(DomainCoding::kMostOfBucket) +
          " of the senders' domains fall into one bucket of the section sender-domains. That does not happen by "
          "chance: somebody who knows the seed chose these domains. Build from the lists again with another seed "
          "(without --seed and --store-seed a new one is drawn), or give --no-sender-domains");
}

}  // namespace

SenderDomainsEncoder::SenderDomainsEncoder(std::uint64_t domains, std::size_t chunk_bytes, Use use)
    : coding_(domains), chunk_bytes_(chunk_bytes), use_(std::move(use)), in_bucket_(coding_.buckets_of_group()) {
  chunk_.reserve(chunk_bytes_);
  table_.reserve(coding_.groups());
  table_.push_back(0);
}

void SenderDomainsEncoder::add(std::span<const DomainNumber> numbers) {
  for (const DomainNumber number : numbers) {
    if (count_ != 0 && number == last_) continue;
    last_ = number;
    const std::uint64_t bucket = coding_.bucket_of(number);
    end_groups_before(bucket / DomainCoding::kBucketsOfGroup);
    if (++in_bucket_[bucket % DomainCoding::kBucketsOfGroup] > DomainCoding::kMostOfBucket) refuse_full_bucket();
    lows_.push_back(coding_.low_of(number));
    ++count_;
  }
}

// After this, the group is the one that takes domains.
void SenderDomainsEncoder::end_groups_before(std::uint64_t group) {
  while (table_.size() <= group) {
    end_group();
    table_.push_back(count_);
  }
}

void SenderDomainsEncoder::end_group() {
  for (std::uint64_t& domains : in_bucket_) {
    for (; domains >= 32; domains -= 32) put(0xFFFFFFFF, 32);
    put((std::uint64_t{1} << domains) - 1, static_cast<unsigned>(domains) + 1);
    domains = 0;
  }
  for (const std::uint64_t low : lows_) put(low, coding_.low_bits());
  lows_.clear();
}

// Less than 64 bits; all others of `bits` are zero.
void SenderDomainsEncoder::put(std::uint64_t bits, unsigned count) {
  word_ |= bits << word_bits_;
  if (word_bits_ + count < 64) {
    word_bits_ += count;
    return;
  }
  put_word(word_);
  const unsigned put_bits = 64 - word_bits_;  // less than 64, as `count` is
  word_ = bits >> put_bits;
  word_bits_ = count - put_bits;
}

void SenderDomainsEncoder::put_word(std::uint64_t word) {
  const std::size_t at = chunk_.size();
  chunk_.resize(at + sizeof word);
  store_little_endian(chunk_.data() + at, word);
  if (chunk_.size() < chunk_bytes_) return;
  use_(chunk_);
  chunk_.clear();
}

void SenderDomainsEncoder::finish() {
  if (count_ != coding_.domains()) throw std::logic_error("another number of sender domains than was counted");
  end_groups_before(coding_.groups() - 1);
  end_group();
  if (word_bits_ != 0) put_word(word_);
  for (const std::uint64_t before : table_) put_word(before);
  if (!chunk_.empty()) use_(chunk_);
}

}  // namespace bloomgate
