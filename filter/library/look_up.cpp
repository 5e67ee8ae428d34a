// Look-ups: bloomgate.h.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "filter/layout/lookup_batch.hpp"
#include "filter/library/boundary.hpp"
#include "filter/library/column.hpp"
#include "filter/library/handles.hpp"

using bloomgate::canonicalize_list_line;
using bloomgate::canonicalize_path;
using bloomgate::Entry;
using bloomgate::EntryKind;
using bloomgate::FilterView;
using bloomgate::FoundEntry;
using bloomgate::Match;
using bloomgate::library::guarded;
using bloomgate::library::require_pointer;
using bloomgate::library::text_at;

namespace {

std::uint8_t answer_of(const FoundEntry& found) noexcept {
  switch (found.match) {
    case Match::address:
      return BLOOMGATE_LISTED;
    case Match::domain:
      return BLOOMGATE_BY_DOMAIN;
    case Match::domain_tree:
      return BLOOMGATE_BY_DOMAIN_TREE;
    case Match::mailing_list:
    case Match::with_signer:
      return BLOOMGATE_LISTED;
    case Match::mailing_list_tree:
      return BLOOMGATE_BY_MAILING_LIST_TREE;
    case Match::none:
      break;
  }
  return found.is_excluded ? BLOOMGATE_EXCLUDED : BLOOMGATE_NOT_LISTED;
}

std::uint8_t answer_to_other(const Entry& entry) noexcept {
  return entry.kind() == EntryKind::null_sender ? BLOOMGATE_NULL_SENDER : BLOOMGATE_MALFORMED;
}

std::uint8_t look_up(const FilterView& view, const Entry& entry) noexcept {
  return entry.is_key() ? answer_of(view.find(entry)) : answer_to_other(entry);
}

// The part from the '@' on. `key` is that of an address.
std::string_view domain_key_of(std::string_view key) noexcept {
  return key.substr(key.rfind('@'));
}

// Looks up an address by its key; the result of its own look-up in the bits is already known.
std::uint8_t look_up_key(const FilterView& view, std::string_view key, bool has_bits) noexcept {
  if (has_bits) return BLOOMGATE_LISTED;
  FoundEntry found = view.find_by_domain(domain_key_of(key));
  found.is_excluded = !found.is_listed() && !view.excluded().empty() && view.is_excluded(key);
  return answer_of(found);
}

// By keys of addresses: finds what lists the sender for all recipients, or for this one.
std::uint8_t look_up_pair(const FilterView& view, std::string_view sender, std::string_view recipient) noexcept {
  const std::uint8_t for_all = look_up_key(view, sender, view.may_contain(sender));
  if (bloomgate_is_listed(for_all) != 0 || !view.holds_pairs()) return for_all;
  const bloomgate::FoundPair found = view.find_pair(sender, recipient);
  if (found.is_listed()) return BLOOMGATE_BY_PAIR;
  return found.is_excluded ? std::uint8_t{BLOOMGATE_EXCLUDED} : for_all;
}

// The same for a pair with a domain or a mailing list.
std::uint8_t look_up_domain_pair(const FilterView& view, std::string_view key) noexcept {
  if (view.contains_domain(key)) return BLOOMGATE_BY_PAIR;
  const auto [sender, recipient] = bloomgate::sides_of_pair(key);
  const bool is_address = !sender.starts_with('@') && !bloomgate::is_mailing_list_key(sender);
  const std::uint8_t for_all =
      is_address ? look_up_key(view, sender, view.may_contain(sender)) : look_up(view, canonicalize_list_line(sender));
  if (bloomgate_is_listed(for_all) != 0) return for_all;
  return view.find_wider_pair(sender, recipient).is_listed() ? BLOOMGATE_BY_PAIR : BLOOMGATE_NOT_LISTED;
}

// Finds which form of the entry with its signer lists an entry with a signer.
std::uint8_t look_up_with_signer(const FilterView& view, std::string_view key) noexcept {
  const auto [entry, signer] = bloomgate::sides_of_signer_key(key);
  const bloomgate::SignerKey found = view.find_with_signer(entry, signer);
  const std::string_view by = found.view();
  if (by.empty()) return BLOOMGATE_NOT_LISTED;
  if (by == key) return BLOOMGATE_LISTED;
  if (by.starts_with(bloomgate::kMailingListPrefix)) return BLOOMGATE_BY_MAILING_LIST_TREE;
  return by.starts_with("@.") ? BLOOMGATE_BY_DOMAIN_TREE : BLOOMGATE_BY_DOMAIN;
}

std::uint8_t look_up_entry(const FilterView& view, const Entry& entry) noexcept {
  if (entry.kind() == EntryKind::with_signer) return look_up_with_signer(view, entry.key());
  if (entry.kind() == EntryKind::domain_pair) return look_up_domain_pair(view, entry.key());
  if (entry.kind() != EntryKind::pair) return look_up(view, entry);
  const auto [sender, recipient] = bloomgate::sides_of_pair(entry.key());
  return look_up_pair(view, sender, recipient);
}

// Looks up `count` addresses of which `text_of(i)` is number i, a batch at a time.
template <typename TextOf>
void look_up_all(const FilterView& view, std::size_t count, TextOf text_of, std::uint8_t* answers) noexcept {
  bloomgate::LookupBatch batch(view);
  std::array<Entry, bloomgate::LookupBatch::kKeys> entries;
  std::array<std::size_t, bloomgate::LookupBatch::kKeys> numbers;
  const auto answer = [&] {
    batch.test(
        [&](std::size_t i, bool has_bits) { answers[numbers[i]] = look_up_key(view, entries[i].key(), has_bits); });
  };
  for (std::size_t i = 0; i < count; ++i) {
    Entry& entry = entries[batch.size()];
    entry = canonicalize_path(text_of(i), view.shape().profile);
    if (!entry.is_key()) {
      answers[i] = answer_to_other(entry);
      continue;
    }
    numbers[batch.size()] = i;
    batch.add(entry.key());
    if (batch.full()) answer();
  }
  answer();
}

// Calls `action(view)`, which answers `count` texts. If anything failed, or if the file had changed when the look-ups
// were done, no answer is passed on.
template <typename Action>
int answered(const bloomgate_filter* filter, std::size_t count, std::uint8_t* answers, Action action) noexcept {
  const int error = guarded([&] {
    require_pointer(filter, "filter");
    if (count != 0) require_pointer(answers, "answers");
    action(filter->file.view());
    filter->file.require_whole();
  });
  if (error != BLOOMGATE_OK && answers != nullptr) std::fill_n(answers, count, std::uint8_t{BLOOMGATE_NOT_LISTED});
  return error;
}

template <typename Offset>
int look_up_column(const bloomgate_filter* filter, const char* data, std::size_t data_bytes, const Offset* offsets,
                   std::size_t count, std::uint8_t* answers) noexcept {
  return answered(filter, count, answers, [&](const FilterView& view) {
    const bloomgate::library::Column<Offset> column(data, data_bytes, offsets, count);
    look_up_all(view, count, [&](std::size_t i) { return column[i]; }, answers);
  });
}

}  // namespace

int bloomgate_look_up(const bloomgate_filter* filter, const char* address, size_t bytes, uint8_t* answer) {
  return answered(filter, 1, answer, [&](const FilterView& view) {
    *answer = look_up(view, canonicalize_path(text_at(address, bytes, "address"), view.shape().profile));
  });
}

int bloomgate_look_up_pair(const bloomgate_filter* filter, const char* sender, size_t sender_bytes,
                           const char* recipient, size_t recipient_bytes, uint8_t* answer) {
  return answered(filter, 1, answer, [&](const FilterView& view) {
    const auto& profile = view.shape().profile;
    const Entry from = canonicalize_path(text_at(sender, sender_bytes, "sender"), profile);
    const Entry to = canonicalize_path(text_at(recipient, recipient_bytes, "recipient"), profile);
    *answer = from.is_key() && to.is_key() ? look_up_pair(view, from.key(), to.key()) : look_up(view, from);
  });
}

int bloomgate_look_up_entry(const bloomgate_filter* filter, const char* entry, size_t bytes, uint8_t* answer) {
  return answered(filter, 1, answer, [&](const FilterView& view) {
    *answer = look_up_entry(view, canonicalize_list_line(text_at(entry, bytes, "entry"), view.shape().profile));
  });
}

int bloomgate_look_up_many(const bloomgate_filter* filter, const char* const* addresses, const size_t* bytes,
                           size_t count, uint8_t* answers) {
  return answered(filter, count, answers, [&](const FilterView& view) {
    if (count == 0) return;
    require_pointer(addresses, "addresses");
    require_pointer(bytes, "bytes");
    for (std::size_t i = 0; i < count; ++i) text_at(addresses[i], bytes[i], "an address");
    look_up_all(view, count, [&](std::size_t i) { return std::string_view(addresses[i], bytes[i]); }, answers);
  });
}

int bloomgate_look_up_column32(const bloomgate_filter* filter, const char* data, size_t data_bytes,
                               const int32_t* offsets, size_t count, uint8_t* answers) {
  return look_up_column(filter, data, data_bytes, offsets, count, answers);
}

int bloomgate_look_up_column64(const bloomgate_filter* filter, const char* data, size_t data_bytes,
                               const int64_t* offsets, size_t count, uint8_t* answers) {
  return look_up_column(filter, data, data_bytes, offsets, count, answers);
}

int bloomgate_look_up_fixed(const bloomgate_filter* filter, const char* data, size_t width, size_t count,
                            uint8_t* answers) {
  return answered(filter, count, answers, [&](const FilterView& view) {
    if (width != 0 && count > SIZE_MAX / width) bloomgate::library::refuse("count * width does not fit in memory");
    if (width * count != 0) require_pointer(data, "data");
    const auto text_of = [&](std::size_t i) {
      std::string_view text(data + i * width, width);
      while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
      return text;
    };
    look_up_all(view, count, text_of, answers);
  });
}
