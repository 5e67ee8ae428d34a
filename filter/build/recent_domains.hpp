// The domains that a thread has just seen, so that it passes each on once and not with every address. A table of texts
// comes first, since to compare some words takes less time than to hash them; then one of hashes, which is larger. A
// domain that is no longer in a table is passed on once more: that costs time and is never wrong.
//
// For one thread. Some 800 KB, so that both tables stay in a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "filter/base/little_endian.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {

class RecentDomains {
 public:
  RecentDomains() : texts_(std::make_unique<Text[]>(kTexts)), hashes_(std::make_unique<KeyHash[]>(kHashes)) {}

  // Whether this domain is among those that came before; from now on it is. Texts of other lengths than most domains
  // have are never there.
  bool has_text(std::string_view domain) noexcept {
    const std::size_t bytes = domain.size();
    if (bytes < kLeastBytes || bytes > kMostBytes) return false;
    const char* const first = domain.data();
    // Three words that together are all of the text.
    const Text text = {word_at(first), word_at(first + bytes / 2 - 4), word_at(first + bytes - 8), bytes};
    Text& slot = texts_[slot_of(text)];
    if (slot == text) return true;
    slot = text;
    return false;
  }

  // The same for the hash of a domain.
  bool has_hash(KeyHash hash) noexcept {
    KeyHash& slot = hashes_[hash % kHashes];
    if (slot == hash) return hash != 0;  // a slot that is empty has no hash
    slot = hash;
    return false;
  }

 private:
  static constexpr std::size_t kTexts = std::size_t{1} << 13;
  static constexpr std::size_t kHashes = std::size_t{1} << 16;
  static constexpr std::size_t kLeastBytes = 8;
  static constexpr std::size_t kMostBytes = 24;

  struct Text {
    std::uint64_t first = 0;
    std::uint64_t middle = 0;
    std::uint64_t last = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(const Text&, const Text&) = default;
  };

  static std::uint64_t word_at(const char* at) noexcept {
    return load_little_endian<std::uint64_t>(reinterpret_cast<const std::byte*>(at));
  }

  static std::size_t slot_of(const Text& text) noexcept {
    constexpr unsigned kSlotBits = 13;
    static_assert(kTexts == std::size_t{1} << kSlotBits);
    const std::uint64_t mixed = (text.first * 0x9E3779B97F4A7C15 ^ text.middle) * 0xBF58476D1CE4E5B9 ^ text.last;
    return (mixed * 0x94D049BB133111EB) >> (64 - kSlotBits);
  }

  std::unique_ptr<Text[]> texts_;
  std::unique_ptr<KeyHash[]> hashes_;
};

}  // namespace bloomgate
