#include "milter/policy/exact_list.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "filter/address/characters.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/base/error.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

using KeyLength = std::uint16_t;
static_assert(kMaxKeyBytes <= std::numeric_limits<KeyLength>::max());

constexpr std::size_t kFirstSlots = 16;

bool is_text(std::string_view line) noexcept {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(kWhiteSpace));
    const bool has_control =
        std::ranges::any_of(word, [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == '\x7f'; });
    if (has_control || characters::check(word) == RejectReason::invalid_utf8) return false;
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return true;
}

}  // namespace

std::string_view ExactList::key_at(std::uint32_t offset) const noexcept {
  KeyLength length;
  std::memcpy(&length, keys_.data() + offset, sizeof length);
  return {keys_.data() + offset + sizeof length, length};
}

std::size_t ExactList::slot_of(std::string_view key) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_key(key, seed_) & mask;
  while (slots_[slot] != 0 && key_at(slots_[slot]) != key) slot = (slot + 1) & mask;
  return slot;
}

bool ExactList::contains(std::string_view key) const noexcept {
  return size_ != 0 && slots_[slot_of(key)] != 0;
}

bool ExactList::has(const Entry& entry) const noexcept {
  return entry.is_key() && contains(entry.key());
}

FoundEntry ExactList::find(const Entry& entry, TagSeparators separators) const noexcept {
  if (entry.kind() == EntryKind::domain || entry.kind() == EntryKind::domain_tree) {
    if (!contains(entry.key())) return {};
    return {entry.kind() == EntryKind::domain ? Match::domain : Match::domain_tree, entry.domain()};
  }
  if (entry.kind() != EntryKind::address || size_ == 0) return {};
  // Gives the key the form of the list's own keys. A key that is too long once folded was too long in the list, too. If
  // memory ran out, the key as it came is nearly always folded already.
  const Entry folded = canonicalize_path(entry.key());
  const std::string_view key = folded.is_key() ? folded.key() : entry.key();
  if (contains(key)) return {Match::address};
  if (!separators.none()) {
    const Entry untagged = canonicalize_path(key, {.tag_separators = separators});
    if (untagged.is_key() && untagged.key() != key && contains(untagged.key())) return {Match::address};
  }
  // The key of `@domain` is the tail of the address's own key.
  if (has_domains_ && contains(entry.key().substr(entry.local_part().size()))) {
    return {Match::domain, entry.domain()};
  }
  if (!has_trees_) return {};
  const std::string_view tree =
      find_domain_tree(entry.domain(), [this](std::string_view key_of_tree) { return contains(key_of_tree); });
  if (tree.empty()) return {};
  return {Match::domain_tree, tree};
}

// Makes a list, entry by entry.
class ExactListReader {
 public:
  ExactListReader() {
    list_.seed_ = random_seed();
    list_.keys_.assign(1, '\0');
    list_.slots_.resize(kFirstSlots);
  }

  void insert(const Entry& entry) {
    if ((list_.size_ + 1) * 2 > list_.slots_.size()) grow();
    const std::string_view key = entry.key();
    std::uint32_t& slot = list_.slots_[list_.slot_of(key)];
    if (slot != 0) return;
    slot = append(key);
    ++list_.size_;
    list_.has_domains_ |= entry.kind() == EntryKind::domain;
    list_.has_trees_ |= entry.kind() == EntryKind::domain_tree;
  }

  ExactList take() {
    list_.keys_.shrink_to_fit();
    return std::move(list_);
  }

 private:
  std::uint32_t append(std::string_view key) {
    std::string& keys = list_.keys_;
    if (keys.size() > std::numeric_limits<std::uint32_t>::max() - sizeof(KeyLength) - kMaxKeyBytes) {
      throw BloomgateError(ErrorCode::bad_input,
                           "the keys of an exact list take more than 4 GiB; put most of its entries into a filter");
    }
    const auto offset = static_cast<std::uint32_t>(keys.size());
    const auto length = static_cast<KeyLength>(key.size());
    keys.append(reinterpret_cast<const char*>(&length), sizeof length);
    keys.append(key);
    return offset;
  }

  void grow() {
    std::vector<std::uint32_t> old(list_.slots_.size() * 2);
    old.swap(list_.slots_);
    for (const std::uint32_t offset : old) {
      if (offset != 0) list_.slots_[list_.slot_of(list_.key_at(offset))] = offset;
    }
  }

  ExactList list_;
};

ExactListReading read_exact_list(std::string_view text) {
  ExactListReading reading;
  ExactListReader reader;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t line_end = text.find('\n');
    const std::string_view line = text.substr(0, line_end == std::string_view::npos ? line_end : line_end + 1);
    text.remove_prefix(line.size());
    const Entry entry = canonicalize_line(line);
    if (entry.is_key()) {
      reader.insert(entry);
    } else if (entry.kind() == EntryKind::rejected) {
      ++reading.bad_line_count;
      if (reading.spoiled_line == 0 && !is_text(line)) reading.spoiled_line = number;
      if (reading.bad_lines.size() < ExactListReading::kMostBadLines) {
        reading.bad_lines.push_back({number, entry.reason()});
      }
    }
  }
  reading.list = reader.take();
  return reading;
}

}  // namespace bloomgate
