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
    : coding_(domains), use_(std::move(use)), chunk_(chunk_bytes) {
  table_.reserve(coding_.groups());
  table_.push_back(0);
}

void SenderDomainsEncoder::add(std::span<const DomainNumber> numbers) {
  for (const DomainNumber number : numbers) {
    if (count_ != 0 && number == last_) continue;
    last_ = number;
    if (++count_ > coding_.buckets() || has_full_bucket_) continue;
    const std::uint64_t bucket = coding_.bucket_of(number);
    end_groups_before(bucket / DomainCoding::kBucketsOfGroup);
    // They ascend. So a bucket is full if the domain kMostOfBucket positions earlier is in it, too.
    const std::size_t size = group_.size();
    has_full_bucket_ =
        size >= DomainCoding::kMostOfBucket && coding_.bucket_of(group_[size - DomainCoding::kMostOfBucket]) == bucket;
    group_.push_back(number);
  }
}

// Afterwards `group` is the group that receives domains.
void SenderDomainsEncoder::end_groups_before(std::uint64_t group) {
  while (table_.size() <= group) {
    end_group();
    table_.push_back(in_groups_);
  }
}

void SenderDomainsEncoder::end_group() {
  in_groups_ += group_.size();
  // The one of a domain comes after a zero for each bucket before its own, and a one for each domain before it.
  const std::uint64_t unary_bits = coding_.buckets_of_group() + group_.size();
  unary_.assign(unary_bits / 64 + 1, 0);
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const std::uint64_t bit = coding_.bucket_of(group_[i]) % DomainCoding::kBucketsOfGroup + i;
    unary_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  for (std::size_t i = 0; i < unary_bits / 64; ++i) {
    put(unary_[i] & 0xFFFFFFFF, 32);
    put(unary_[i] >> 32, 32);
  }
  put(unary_[unary_bits / 64], unary_bits % 64);
  for (const DomainNumber number : group_) put(coding_.low_of(number), coding_.low_bits());
  group_.clear();
}

// `count` must be less than 64; all other bits of `bits` must be zero.
void SenderDomainsEncoder::put(std::uint64_t bits, unsigned count) {
  word_ |= bits << word_bits_;
  if (word_bits_ + count < 64) {
    word_bits_ += count;
    return;
  }
  put_word(word_);
  const unsigned put_bits = 64 - word_bits_;  // less than 64, like `count`
  word_ = bits >> put_bits;
  word_bits_ = count - put_bits;
}

void SenderDomainsEncoder::put_word(std::uint64_t word) {
  store_little_endian(chunk_.data() + chunk_used_, word);
  chunk_used_ += sizeof word;
  if (chunk_used_ == chunk_.size()) use_chunk();
}

void SenderDomainsEncoder::use_chunk() {
  use_(std::span(chunk_).first(chunk_used_));
  chunk_used_ = 0;
}

void SenderDomainsEncoder::finish() {
  if (!suits_count()) throw std::logic_error("another number of sender domains than was counted");
  if (has_full_bucket_) refuse_full_bucket();
  end_groups_before(coding_.groups() - 1);
  end_group();
  if (word_bits_ != 0) put_word(word_);
  for (const std::uint64_t before : table_) put_word(before);
  if (chunk_used_ != 0) use_chunk();
}

}  // namespace bloomgate
