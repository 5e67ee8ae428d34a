// Keys and hashes: bloomgate.h.
#include <algorithm>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/layout/layout.hpp"
#include "filter/library/boundary.hpp"
#include "filter/library/handles.hpp"

using bloomgate::Entry;
using bloomgate::EntryKind;
using bloomgate::library::guarded;
using bloomgate::library::refuse;
using bloomgate::library::require_pointer;
using bloomgate::library::text_at;

namespace {

static_assert(bloomgate::kMaxEntryKeyBytes == BLOOMGATE_MAX_KEY_BYTES);

// Part of the library's interface: the numbers never change.
int kind_of(EntryKind kind) noexcept {
  switch (kind) {
    case EntryKind::rejected:
      return BLOOMGATE_KIND_REJECTED;
    case EntryKind::blank:
      return BLOOMGATE_KIND_BLANK;
    case EntryKind::null_sender:
      return BLOOMGATE_KIND_NULL_SENDER;
    case EntryKind::address:
      return BLOOMGATE_KIND_ADDRESS;
    case EntryKind::domain:
      return BLOOMGATE_KIND_DOMAIN;
    case EntryKind::domain_tree:
      return BLOOMGATE_KIND_DOMAIN_TREE;
    case EntryKind::mailing_list:
      return BLOOMGATE_KIND_MAILING_LIST;
    case EntryKind::mailing_list_tree:
      return BLOOMGATE_KIND_MAILING_LIST_TREE;
    case EntryKind::with_signer:
      return BLOOMGATE_KIND_WITH_SIGNER;
    case EntryKind::pair:
      return BLOOMGATE_KIND_PAIR;
    case EntryKind::domain_pair:
      return BLOOMGATE_KIND_DOMAIN_PAIR;
  }
  return BLOOMGATE_KIND_REJECTED;
}

const bloomgate::FilterShape& shape_of(const bloomgate_filter& filter) noexcept {
  return filter.file.header().shape;
}

void require_hashes(const bloomgate::FilterShape& shape) {
  const bloomgate::LayoutRules& rules = bloomgate::layout_rules(shape.layout);
  if (rules.value_is_hash()) return;
  throw bloomgate::BloomgateError(
      bloomgate::ErrorCode::unsupported_layout,
      "in the layout " + std::string(rules.name()) + " an entry is not found by one hash of 64 bits");
}

// `canonicalize` takes a text and a profile.
template <typename Canonicalize>
int canonicalize_into(const bloomgate_filter* filter, const char* text, std::size_t bytes, char* key, std::size_t room,
                      std::size_t* key_bytes, int* kind, const char** reason, Canonicalize canonicalize) noexcept {
  return guarded([&] {
    require_pointer(filter, "filter");
    const Entry entry = canonicalize(text_at(text, bytes, "text"), shape_of(*filter).profile);
    require_pointer(key_bytes, "key_bytes");
    require_pointer(kind, "kind");
    *key_bytes = entry.key().size();
    if (room < entry.key().size()) refuse("the key has " + std::to_string(*key_bytes) + " bytes");
    if (!entry.key().empty()) require_pointer(key, "key");
    std::ranges::copy(entry.key(), key);
    *kind = kind_of(entry.kind());
    // Names are literals, which end with a NUL.
    if (reason != nullptr) *reason = bloomgate::reject_reason_name(entry.reason()).data();
  });
}

}  // namespace

int bloomgate_canonicalize_address(const bloomgate_filter* filter, const char* text, size_t bytes, char* key,
                                   size_t room, size_t* key_bytes, int* kind, const char** reason) {
  return canonicalize_into(
      filter, text, bytes, key, room, key_bytes, kind, reason,
      [](std::string_view address, const auto& profile) { return bloomgate::canonicalize_path(address, profile); });
}

int bloomgate_canonicalize_entry(const bloomgate_filter* filter, const char* text, size_t bytes, char* key, size_t room,
                                 size_t* key_bytes, int* kind, const char** reason) {
  return canonicalize_into(
      filter, text, bytes, key, room, key_bytes, kind, reason,
      [](std::string_view line, const auto& profile) { return bloomgate::canonicalize_list_line(line, profile); });
}

int bloomgate_hash_key(const bloomgate_filter* filter, const char* key, size_t bytes, uint64_t* hash) {
  return guarded([&] {
    require_pointer(filter, "filter");
    require_pointer(hash, "hash");
    require_hashes(shape_of(*filter));
    *hash = bloomgate::hash_of_address(shape_of(*filter), text_at(key, bytes, "key"));
  });
}
