#include "filter/store/store_cut.hpp"

#include <algorithm>
#include <utility>

#include "filter/store/store_format.hpp"
#include "filter/store/store_page.hpp"

namespace bloomgate {

std::vector<StoreChunk> StoreCut::cut(std::span<const KeyHash>& hashes, bool is_last) {
  std::vector<StoreChunk> chunks;
  std::span<const KeyHash> rest = hashes;
  for (StoreChunk chunk; !rest.empty();) {
    const std::size_t count = hashes_in_page(rest, low_bits_);
    if (count == rest.size() && !is_last) break;  // later hashes may go into the same page
    chunk.pages.push_back(rest.first(count));
    rest = rest.subspan(count);
    if (chunk.pages.size() < kStorePagesInChunk && !(is_last && rest.empty())) continue;
    chunk.first_page = next_page();
    for (const std::span<const KeyHash> page : chunk.pages) index_.push_back(page.front());
    hashes_ += hashes.size() - rest.size();
    hashes = rest;
    chunks.push_back(std::exchange(chunk, {}));
  }
  return chunks;
}

void StoreCut::add_page(const HashRun& page, std::vector<StoreChunk>& chunks) {
  if (next_chunk_.pages.empty()) next_chunk_.first_page = next_page();
  index_.push_back(page.hashes.front());
  hashes_ += page.hashes.size();
  next_chunk_.pages.push_back(page.hashes);
  if (next_chunk_.memory.empty() || next_chunk_.memory.back() != page.memory) next_chunk_.memory.push_back(page.memory);
  if (next_chunk_.pages.size() == kStorePagesInChunk) chunks.push_back(std::exchange(next_chunk_, {}));
}

// Adds hashes of the run to those that do not fill a page yet. Returns the rest of the run.
std::span<const KeyHash> StoreCut::complete_page(const HashRun& run, std::vector<StoreChunk>& chunks) {
  const std::size_t before = next_page_.size();
  const auto more = run.hashes.first(std::min(run.hashes.size(), most_hashes_in_page(low_bits_)));
  next_page_.insert(next_page_.end(), more.begin(), more.end());
  const std::size_t count = hashes_in_page(next_page_, low_bits_);
  if (count == next_page_.size()) return {};  // the whole run, and later hashes may go into the same page
  next_page_.resize(count);
  add_page(HashRun(std::make_shared<const std::vector<KeyHash>>(next_page_)), chunks);
  next_page_.clear();
  return run.hashes.subspan(count - before);
}

std::vector<StoreChunk> StoreCut::cut(const HashRun& run) {
  std::vector<StoreChunk> chunks;
  std::span<const KeyHash> rest = next_page_.empty() ? run.hashes : complete_page(run, chunks);
  while (!rest.empty()) {
    const std::size_t count = hashes_in_page(rest, low_bits_);
    if (count == rest.size()) break;  // later hashes may go into the same page
    add_page(run.part(rest.first(count)), chunks);
    rest = rest.subspan(count);
  }
  next_page_.insert(next_page_.end(), rest.begin(), rest.end());
  return chunks;
}

std::vector<StoreChunk> StoreCut::cut_rest() {
  std::vector<StoreChunk> chunks;
  if (!next_page_.empty()) {
    add_page(HashRun(std::make_shared<const std::vector<KeyHash>>(std::exchange(next_page_, {}))), chunks);
  }
  if (!next_chunk_.pages.empty()) chunks.push_back(std::exchange(next_chunk_, {}));
  return chunks;
}

std::span<const std::byte> StoreCut::make(const StoreChunk& chunk,
                                          std::span<std::byte, kChecksumChunkBytes> memory) const noexcept {
  for (std::size_t i = 0; i < chunk.pages.size(); ++i) {
    const auto page = memory.subspan(i * kStorePageBytes).first<kStorePageBytes>();
    encode_store_page(chunk.pages[i], low_bits_, chunk.first_page + i, page);
  }
  return memory.first(chunk.pages.size() * kStorePageBytes);
}

void StoreCut::add_made(std::span<const KeyHash> index, std::uint64_t hashes) {
  index_.insert(index_.end(), index.begin(), index.end());
  hashes_ += hashes;
}

}  // namespace bloomgate
