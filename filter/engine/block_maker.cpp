#include "filter/engine/block_maker.hpp"

#include "filter/base/parallel.hpp"

namespace bloomgate {

std::uint64_t BlockMaker::block_of(KeyHash hash) const noexcept {
  return rules_->bytes_of(shape_, hash).begin / bytes_of_block_;
}

// `hashes` must be all hashes of the block.
void BlockMaker::make(BodyPart part, std::span<KeyHash> hashes) {
  counted_ += rules_->make_block(shape_, part, hashes);
}

void BlockMaker::take(BodyPart part, KeyHash first, KeyHash last, std::span<const KeyHash> hashes) {
  const std::uint64_t first_block = block_of(first);
  const std::uint64_t blocks = block_of(last) - first_block + 1;
  // For sorting by block: first where the hashes of each block begin, and later, when they are in place, where they
  // end.
  std::vector<std::size_t> ends(blocks + 1);
  for (const KeyHash hash : hashes) ++ends[block_of(hash) - first_block + 1];
  for (std::uint64_t i = 1; i <= blocks; ++i) ends[i] += ends[i - 1];
  std::vector<KeyHash> sorted(hashes.size());
  for (const KeyHash hash : hashes) sorted[ends[block_of(hash) - first_block]++] = hash;
  std::size_t begin = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const auto of_block = std::span(sorted).subspan(begin, ends[i] - begin);
    begin = ends[i];
    if (i != 0 && i + 1 != blocks) {
      make(part, of_block);
    } else if (!of_block.empty()) {
      const std::lock_guard lock(mutex_);
      auto& shared = shared_[first_block + i];
      shared.insert(shared.end(), of_block.begin(), of_block.end());
    }
  }
}

void BlockMaker::finish(BodyPart part, std::uint64_t end_block, unsigned threads) {
  std::vector<std::vector<KeyHash>> complete;
  const auto end = shared_.lower_bound(end_block);
  for (auto block = shared_.begin(); block != end; ++block) complete.push_back(std::move(block->second));
  shared_.erase(shared_.begin(), end);
  for_each_parallel(threads, complete.size(), [&](std::size_t i) { make(part, complete[i]); });
}

}  // namespace bloomgate
