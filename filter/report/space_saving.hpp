// Counts how often words occur, in memory that does not grow with the number of different words: a sender of a million
// messages may have a domain for each. It keeps the most frequent words.
//
// Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams",
// ICDT 2005): a new word replaces the one with the smallest count, and inherits that count. A count is never too low,
// and is too high by `error` at most. Each word that occurred more often than total() / capacity times is kept.
//
// An ordered map finds the words, since senders cannot choose words that make it slow. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

class SpaceSaving {
 public:
  struct Item {
    std::string word;
    std::uint64_t count = 0;
    std::uint64_t error = 0;  // so many of `count` may belong to other words
    std::string note = {};    // the note of the last add()
  };

  // How many words it keeps, at least 1.
  explicit SpaceSaving(std::size_t capacity);

  // Costs O(log capacity) comparisons. A word or a note of more than kMostWordBytes is cut off there. Throws
  // std::bad_alloc.
  static constexpr std::size_t kMostWordBytes = 255;
  void add(std::string_view word, std::uint64_t times = 1, std::string_view note = {});

  std::uint64_t total() const noexcept { return total_; }
  // How many words it has now: all different words, unless has_dropped().
  std::size_t size() const noexcept { return heap_.size(); }
  // How often that word occurred, as top() counts it; 0 if the word is not kept.
  std::uint64_t count_of(std::string_view word) const noexcept;
  // Whether there were more words than it keeps. If not, every count is exact.
  bool has_dropped() const noexcept { return has_dropped_; }

  // The most frequent words, in descending order; among equals in the order of their bytes. Throws
  // std::bad_alloc.
  std::vector<Item> top(std::size_t most) const;

 private:
  struct Counter {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::size_t place = 0;  // in the heap
    std::string note = {};
  };
  using Counters = std::map<std::string, Counter, std::less<>>;

  std::uint64_t count_at(std::size_t place) const noexcept { return heap_[place]->second.count; }
  void put(std::size_t place, Counters::iterator counter) noexcept;
  void move_up(std::size_t place) noexcept;
  void move_down(std::size_t place) noexcept;
  Counters::iterator replace_smallest(std::string_view word);

  std::size_t capacity_;
  std::uint64_t total_ = 0;
  bool has_dropped_ = false;
  Counters counters_;
  std::vector<Counters::iterator> heap_;  // the smallest count first
};

}  // namespace bloomgate
