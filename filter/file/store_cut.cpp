#include "filter/file/store_cut.hpp"

#include <utility>

#include "filter/file/store_page.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kPagesInChunk = kChecksumChunkBytes / kStorePageBytes;

}  // namespace

std::vector<StoreChunk> StoreCut::cut(std::span<const KeyHash>& hashes, bool is_last) {
  std::vector<StoreChunk> chunks;
  std::span<const KeyHash> rest = hashes;
  for (StoreChunk chunk; !rest.empty();) {
    const std::size_t count = hashes_in_page(rest, low_bits_);
    if (count == rest.size() && !is_last) break;  // others may go into the same page
    chunk.pages.push_back(rest.first(count));
    rest = rest.subspan(count);
    if (chunk.pages.size() < kPagesInChunk && !(is_last && rest.empty())) continue;
    chunk.first_page = next_page();
    for (const std::span<const KeyHash> page : chunk.pages) index_.push_back(page.front());
    hashes_ += hashes.size() - rest.size();
    hashes = rest;
    chunks.push_back(std::exchange(chunk, {}));
  }
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
