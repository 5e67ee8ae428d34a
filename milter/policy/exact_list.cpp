#include "milter/policy/exact_list.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "filter/address/characters.hpp"
#include "filter/address/domain_tree.hpp"
#include "filter/address/pair.hpp"
#include "filter/base/error.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/domains/neighbours.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {
namespace {

using KeyLength = std::uint16_t;
static_assert(kMaxEntryKeyBytes <= std::numeric_limits<KeyLength>::max());

constexpr std::size_t kFirstSlots = 16;

// An address in the form of the list's own keys, with and without its tag. A mailing list has one spelling.
class Spellings {
 public:
  // A key that is too long after case folding was too long in the list, too. If memory ran out, the original key is
  // used, which is nearly always folded already.
  Spellings(const Entry& entry, TagSeparators separators) noexcept
      : folded_(canonicalize_path(entry.key())), key_(folded_.is_key() ? folded_.key() : entry.key()) {
    if (!separators.none()) untagged_ = canonicalize_path(key_, {.tag_separators = separators});
  }
  Spellings(const Spellings&) = delete;
  Spellings& operator=(const Spellings&) = delete;

  std::string_view key() const noexcept { return key_; }
  // Empty if there is no tag.
  std::string_view untagged() const noexcept {
    return untagged_.is_key() && untagged_.key() != key_ ? untagged_.key() : std::string_view();
  }
  std::array<std::string_view, 2> all() const noexcept { return {key_, untagged()}; }

 private:
  Entry folded_;
  std::string_view key_;
  Entry untagged_;
};

// The part of a pair's key before the recipient.
PairKey start_of_pair(std::string_view prefix, std::string_view rest) noexcept {
  PairKey start;
  start.append(prefix);
  start.append(rest);
  start.append(kPairSeparator);
  return start;
}

// The neighbours key of entries, in a form that no entry's key has: no entry's key begins with a control byte.
FixedText<1 + kMaxSignerKeyBytes> own_neighbours_key(std::string_view neighbours_key) noexcept {
  FixedText<1 + kMaxSignerKeyBytes> key;
  key.append("\n");
  key.append(neighbours_key);
  return key;
}

bool may_send(const Entry& sender) noexcept {
  return sender.kind() == EntryKind::address || sender.kind() == EntryKind::mailing_list;
}

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
  if (!entry.is_key() || entry.is_pair() || size_ == 0) return {};
  if (entry.kind() == EntryKind::mailing_list) {
    return find_mailing_list(entry.key(), [this](std::string_view key) { return contains(key); });
  }
  if (entry.kind() != EntryKind::address) {
    return contains(entry.key()) ? FoundEntry{match_of(entry.kind()), entry.domain()} : FoundEntry();
  }
  const Spellings spellings(entry, separators);
  if (contains(spellings.key())) return {Match::address};
  if (!spellings.untagged().empty() && contains(spellings.untagged())) return {Match::address};
  return find_by_domain(entry);
}

FoundEntry ExactList::find_by_domain(const Entry& entry) const noexcept {
  if (entry.kind() != EntryKind::address) return {};
  // The key of `@domain` is the end of the address's own key.
  if (has_domains_ && contains(entry.key().substr(entry.local_part().size()))) {
    return {Match::domain, entry.domain()};
  }
  if (!has_trees_) return {};
  const std::string_view tree =
      find_domain_tree(entry.domain(), [this](std::string_view key_of_tree) { return contains(key_of_tree); });
  if (tree.empty()) return {};
  return {Match::domain_tree, tree};
}

SignerKey ExactList::find_with_signer(const Entry& entry, std::string_view signer,
                                      TagSeparators separators) const noexcept {
  if (!has_signers_) return {};
  const Spellings spellings(entry, separators);
  for (const std::string_view key : spellings.all()) {
    if (key.empty()) continue;
    const SignerKey found =
        bloomgate::find_with_signer(key, signer, [this](std::string_view each) { return contains(each); });
    if (!found.view().empty()) return found;
  }
  return {};
}

std::vector<std::string> ExactList::conditional_entries(const Entry& sender, TagSeparators separators) const {
  std::vector<std::string> entries;
  if (!may_send(sender)) return entries;
  const Spellings spellings(sender, separators);
  const auto covers = [&](std::string_view entry) {
    return std::ranges::any_of(spellings.all(), [&](std::string_view spelling) {
      if (spelling.empty()) return false;
      const EntryForms forms(spelling);
      return std::any_of(forms.begin(), forms.end(), [&](const EntryForms::Form& form) {
        return entry.starts_with(form.prefix) && entry.substr(form.prefix.size()) == form.rest;
      });
    });
  };
  for (const std::uint32_t offset : slots_) {
    if (offset == 0) continue;
    const std::string_view key = key_at(offset);
    if (is_pair_key(key)) {
      const PairSides sides = sides_of_pair(key);
      if (!sides.recipient.empty() && covers(sides.sender)) entries.push_back(entry_text(key));
    } else if (is_signer_key(key) && covers(sides_of_signer_key(key).entry)) {
      entries.emplace_back(key);
    }
  }
  std::ranges::sort(entries);
  return entries;
}

bool ExactList::has_neighbours(std::string_view neighbours_key) const noexcept {
  return contains(own_neighbours_key(neighbours_key).view());
}

bool ExactList::has_pairs_of(const Entry& sender, TagSeparators separators) const noexcept {
  if (!has_pairs_ || !may_send(sender)) return false;
  const Spellings senders(sender, separators);
  for (const std::string_view from : senders.all()) {
    if (from.empty()) continue;
    for (const EntryForms::Form& form : EntryForms(from)) {
      if (contains(start_of_pair(form.prefix, form.rest).view())) return true;
    }
  }
  return false;
}

FoundPair ExactList::find_pair(const Entry& sender, const Entry& recipient, TagSeparators sender_separators,
                               TagSeparators recipient_separators) const noexcept {
  if (!has_pairs_ || !may_send(sender) || recipient.kind() != EntryKind::address) return {};
  const Spellings senders(sender, sender_separators);
  const Spellings recipients(recipient, recipient_separators);
  const auto first = [&](const auto& find) -> FoundPair {
    for (const std::string_view from : senders.all()) {
      for (const std::string_view to : recipients.all()) {
        if (from.empty() || to.empty()) continue;
        const PairKey key = find(from, to);
        if (!key.view().empty()) return {.key = key};
      }
    }
    return {};
  };
  const FoundPair found = first([this](std::string_view from, std::string_view to) {
    const PairKey key = pair_key(from, to);
    return contains(key.view()) ? key : PairKey();
  });
  if (found.is_listed()) return found;
  return first([this](std::string_view from, std::string_view to) {
    return find_wider_pair(from, to, [this](std::string_view key) { return contains(key); });
  });
}

// Makes a list, entry by entry.
class ExactListReader {
 public:
  explicit ExactListReader(ExactList beside) : list_(std::move(beside)) {
    if (!list_.slots_.empty()) {
      used_ =
          static_cast<std::size_t>(std::ranges::count_if(list_.slots_, [](std::uint32_t slot) { return slot != 0; }));
      return;
    }
    list_.seed_ = random_seed();
    list_.keys_.assign(1, '\0');
    list_.slots_.resize(kFirstSlots);
  }

  void insert(const Entry& entry) {
    if (!insert(entry.key())) return;
    ++list_.size_;
    if (entry.is_pair()) {
      list_.has_pairs_ = true;
      insert(start_of_pair({}, sides_of_pair(entry.key()).sender).view());
    }
    const NeighboursKey neighbours = neighbours_key(entry.key());
    if (!neighbours.view().empty()) insert(own_neighbours_key(neighbours.view()).view());
    list_.has_domains_ |= entry.kind() == EntryKind::domain;
    list_.has_trees_ |= entry.kind() == EntryKind::domain_tree;
    list_.has_signers_ |= entry.kind() == EntryKind::with_signer;
  }

  ExactList take() {
    list_.keys_.shrink_to_fit();
    return std::move(list_);
  }

 private:
  // Returns whether the key is new.
  bool insert(std::string_view key) {
    if ((used_ + 1) * 2 > list_.slots_.size()) grow();
    std::uint32_t& slot = list_.slots_[list_.slot_of(key)];
    if (slot != 0) return false;
    slot = append(key);
    ++used_;
    return true;
  }

  std::uint32_t append(std::string_view key) {
    std::string& keys = list_.keys_;
    if (keys.size() > std::numeric_limits<std::uint32_t>::max() - sizeof(KeyLength) - kMaxEntryKeyBytes) {
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
  std::size_t used_ = 0;  // of the slots
};

std::string misplaced_text(const Entry& entry, ListOf of) {
  if (of == ListOf::senders || !entry.is_key()) return {};
  if (entry.is_pair()) {
    return "it names a sender; write the recipient alone: " + std::string(sides_of_pair(entry.key()).recipient);
  }
  if (entry.kind() == EntryKind::with_signer) {
    return "only a sender is listed with a signer; write a recipient: ann@ours.example or @ours.example";
  }
  if (entry.kind() == EntryKind::mailing_list || entry.kind() == EntryKind::mailing_list_tree) {
    return "a mailing list is a sender; write a recipient: ann@ours.example or @ours.example";
  }
  return {};
}

ExactListReading read_exact_list(std::string_view text, ListOf of, ExactList beside) {
  ExactListReading reading;
  ExactListReader reader(std::move(beside));
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const Entry entry = canonicalize_list_line(line);
    if (entry.kind() == EntryKind::blank) continue;
    std::string misplaced = misplaced_text(entry, of);
    if (entry.is_key() && misplaced.empty()) {
      reader.insert(entry);
      continue;
    }
    ++reading.bad_line_count;
    if (!entry.is_key() && reading.spoiled_line == 0 && !is_text(line)) reading.spoiled_line = number;
    if (reading.bad_lines.size() < ExactListReading::kMostBadLines) {
      reading.bad_lines.push_back({number, entry.reason(), entry.is_key() ? std::move(misplaced) : reject_text(entry)});
    }
  }
  reading.list = reader.take();
  return reading;
}

}  // namespace bloomgate
