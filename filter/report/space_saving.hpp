// Counts how often words come, in memory that does not grow with the number of different words: whoever sends a million
// messages may have a domain for each. It keeps the words that came most often.
//
// Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams",
// ICDT 2005): a new word takes the place, and the count, of the one with the smallest count. A count is never too low,
// and is too high by `error` at most. Each word that came more often than total() / capacity times is among them.
//
// An ordered map finds the words, since nobody can choose words that make it slow. For one thread.
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
    std::uint64_t error = 0;  // so many of them may be other words'
    std::string note = {};    // what the last add() said
  };

  // How many words it keeps, at least 1.
  explicit SpaceSaving(std::size_t capacity);

  // Costs O(log capacity) comparisons. A word or a note of more than kMostWordBytes is cut off there. Throws
  // std::bad_alloc.
  static constexpr std::size_t kMostWordBytes = 255;
  void add(std::string_view word, std::uint64_t times = 1, std::string_view note = {});

  std::uint64_t total() const noexcept { return total_; }
  // How many words it has now: all different ones that came, unless has_dropped().
  std::size_t size() const noexcept { return heap_.size(); }
  // How often that word came, as top() counts it: 0 if the word is not among those that it keeps.
  std::uint64_t count_of(std::string_view word) const noexcept;
  // Whether there were more words than it keeps. If not, every count is exact.
  bool has_dropped() const noexcept { return has_dropped_; }

  // The words that came most often, the most frequent first; among equals in the order of their bytes. Throws
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
