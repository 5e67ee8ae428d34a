#include "filter/report/space_saving.hpp"

#include <algorithm>

namespace bloomgate {

SpaceSaving::SpaceSaving(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {}

void SpaceSaving::put(std::size_t place, Counters::iterator counter) noexcept {
  heap_[place] = counter;
  counter->second.place = place;
}

void SpaceSaving::move_up(std::size_t place) noexcept {
  const Counters::iterator moved = heap_[place];
  for (std::size_t parent; place != 0; place = parent) {
    parent = (place - 1) / 2;
    if (count_at(parent) <= moved->second.count) break;
    put(place, heap_[parent]);
  }
  put(place, moved);
}

void SpaceSaving::move_down(std::size_t place) noexcept {
  const Counters::iterator moved = heap_[place];
  for (std::size_t child; (child = 2 * place + 1) < heap_.size(); place = child) {
    if (child + 1 < heap_.size() && count_at(child + 1) < count_at(child)) ++child;
    if (moved->second.count <= count_at(child)) break;
    put(place, heap_[child]);
  }
  put(place, moved);
}

// The new word gets the slot and the count of the old one; the whole count may be an error.
SpaceSaving::Counters::iterator SpaceSaving::replace_smallest(std::string_view word) {
  has_dropped_ = true;
  std::string key(word);  // throws before anything has changed
  const Counters::iterator smallest = heap_.front();
  auto node = counters_.extract(smallest);
  node.key() = std::move(key);
  node.mapped().error = node.mapped().count;
  const Counters::iterator placed = counters_.insert(std::move(node)).position;
  heap_.front() = placed;
  return placed;
}

void SpaceSaving::add(std::string_view word, std::uint64_t times, std::string_view note) {
  word = word.substr(0, kMostWordBytes);
  auto counter = counters_.find(word);
  if (counter == counters_.end() && heap_.size() < capacity_) {
    heap_.reserve(heap_.size() + 1);
    counter = counters_.emplace(std::string(word), Counter{}).first;
    heap_.push_back(counter);
    put(heap_.size() - 1, counter);
    move_up(heap_.size() - 1);
  } else if (counter == counters_.end()) {
    counter = replace_smallest(word);
  }
  total_ += times;
  counter->second.count += times;
  counter->second.note = note.substr(0, kMostWordBytes);
  move_down(counter->second.place);
}

std::uint64_t SpaceSaving::count_of(std::string_view word) const noexcept {
  const auto found = counters_.find(word);
  return found == counters_.end() ? 0 : found->second.count;
}

std::vector<SpaceSaving::Item> SpaceSaving::top(std::size_t most) const {
  std::vector<Counters::const_iterator> order(heap_.begin(), heap_.end());
  const std::size_t wanted = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(wanted),
                            [](const auto& a, const auto& b) {
                              if (a->second.count != b->second.count) return a->second.count > b->second.count;
                              return a->first < b->first;
                            });
  std::vector<Item> items;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Counter& counter = order[i]->second;
    items.push_back({order[i]->first, counter.count, counter.error, counter.note});
  }
  return items;
}

}  // namespace bloomgate
