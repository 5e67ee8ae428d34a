// The domains that a thread has just seen, so that it passes each on once and not with every address. A table of texts
// comes first, since to compare some words takes less time than to hash them; then one of hashes, which is larger. A
// domain that is no longer in a table is passed on once more: that costs time and is never wrong.
//
// Whether a domain is in a table cannot be foreseen, so no branch depends on it: what is not there goes to the end of a
// short list, and the list is worked off when it is full.
//
// For one thread. Some 800 KB, so that both tables stay in a cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class RecentDomains {
 public:
  // What add() may put off.
  static constexpr std::size_t kMostPutOff = 128;

  RecentDomains() : texts_(std::make_unique<Text[]>(kTexts)), hashes_(std::make_unique<KeyHash[]>(kHashes)) {}

  // A domain has come. Calls `hash(text)` and `pass_on(hash)` for some that were not there, now or later.
  template <typename Hash, typename PassOn>
  void add(std::string_view domain, Hash hash, PassOn pass_on) {
    const std::size_t bytes = domain.size();
    if (bytes < kLeastBytes || bytes > kMostBytes) {  // longer ones are rare
      put_off(hash(domain), pass_on);
      return;
    }
    const Text text = Text::of(domain);
    texts_to_hash_[texts_count_] = text;
    Text& slot = texts_[slot_of(text)];
    texts_count_ += slot == text ? 0U : 1U;
    slot = text;
    if (texts_count_ == kAtOnce) hash_texts(hash, pass_on);
  }

  // Passes on what was put off.
  template <typename Hash, typename PassOn>
  void settle(Hash hash, PassOn pass_on) {
    hash_texts(hash, pass_on);
    check_hashes(pass_on);
  }

 private:
  static constexpr unsigned kTextBits = 13;
  static constexpr std::size_t kTexts = std::size_t{1} << kTextBits;
  static constexpr std::size_t kHashes = std::size_t{1} << 16;
  static constexpr std::size_t kAtOnce = kMostPutOff / 2;  // of texts, and of hashes
  static constexpr std::size_t kLeastBytes = 4;
  static constexpr std::size_t kMostBytes = 24;

  // A text as words that overlap, which together are all of it: the text may stand at the end of readable memory.
  struct Text {
    std::uint64_t first = 0;  // as they lie in memory
    std::uint64_t middle = 0;
    std::uint64_t last = 0;
    std::uint64_t bytes = 0;

    static Text of(std::string_view text) noexcept {
      const char* const from = text.data();
      const std::size_t bytes = text.size();
      if (bytes < 8) return {word<std::uint32_t>(from), 0, word<std::uint32_t>(from + bytes - 4), bytes};
      return {word<std::uint64_t>(from), word<std::uint64_t>(from + bytes / 2 - 4),
              word<std::uint64_t>(from + bytes - 8), bytes};
    }

    // In `memory`.
    std::string_view view(std::array<char, kMostBytes>& memory) const noexcept {
      char* const to = memory.data();
      if (bytes < 8) {
        const auto head = static_cast<std::uint32_t>(first);
        const auto tail = static_cast<std::uint32_t>(last);
        std::memcpy(to, &head, sizeof head);
        std::memcpy(to + bytes - sizeof tail, &tail, sizeof tail);
      } else {
        std::memcpy(to, &first, 8);
        std::memcpy(to + bytes / 2 - 4, &middle, 8);
        std::memcpy(to + bytes - 8, &last, 8);
      }
      return {to, bytes};
    }

    friend bool operator==(const Text& a, const Text& b) noexcept {
      return ((a.first ^ b.first) | (a.middle ^ b.middle) | (a.last ^ b.last) | (a.bytes ^ b.bytes)) == 0;
    }

   private:
    template <typename Word>
    static std::uint64_t word(const char* from) noexcept {
      Word word;
      std::memcpy(&word, from, sizeof word);
      return word;
    }
  };

  static std::size_t slot_of(const Text& text) noexcept {
    const std::uint64_t mixed = (text.first * 0x9E3779B97F4A7C15 ^ text.middle) * 0xBF58476D1CE4E5B9 ^ text.last;
    return (mixed * 0x94D049BB133111EB) >> (64 - kTextBits);
  }

  template <typename PassOn>
  void put_off(KeyHash hash, PassOn pass_on) {
    if (hashes_count_ == kAtOnce) check_hashes(pass_on);
    hashes_to_check_[hashes_count_++] = hash;
  }

  template <typename Hash, typename PassOn>
  void hash_texts(Hash hash, PassOn pass_on) {
    std::array<char, kMostBytes> memory;
    for (std::size_t i = 0; i < texts_count_; ++i) {
      put_off(hash(texts_to_hash_[i].view(memory)), pass_on);
    }
    texts_count_ = 0;
  }

  template <typename PassOn>
  void check_hashes(PassOn pass_on) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < hashes_count_; ++i) {
      const KeyHash hash = hashes_to_check_[i];
      KeyHash& slot = hashes_[hash % kHashes];
      // To the front of the same list. A slot that is empty has no hash.
      hashes_to_check_[count] = hash;
      count += slot != hash || hash == 0 ? 1U : 0U;
      slot = hash;
    }
    for (std::size_t i = 0; i < count; ++i) pass_on(hashes_to_check_[i]);
    hashes_count_ = 0;
  }

  std::unique_ptr<Text[]> texts_;
  std::unique_ptr<KeyHash[]> hashes_;
  std::array<Text, kAtOnce> texts_to_hash_;
  std::array<KeyHash, kAtOnce> hashes_to_check_;
  std::size_t texts_count_ = 0;
  std::size_t hashes_count_ = 0;
};

}  // namespace bloomgate
