// Shapes, keys and hashes: bloomgate.h.
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/engine/filter_part.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/library/boundary.hpp"
#include "filter/library/column.hpp"
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

template <typename Number>
Number number_of(std::string_view option, std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(std::string(option) + " takes a number, not '" + std::string(text) + "'");
  }
  return number;
}

// Works the shape out from its settings.
void work_out(bloomgate_shape& shape) {
  shape.shape = bloomgate::shape_of(shape.options);
  shape.shape.block_count =
      bloomgate::blocks_for(shape.expected_entries, shape.options.bits_per_entry, shape.shape.block_bytes);
  bloomgate::file_bytes({.shape = shape.shape});  // refuses what no file can hold
}

void set(bloomgate_shape& shape, std::string_view option, std::string_view value) {
  bloomgate::BuildOptions& options = shape.options;
  if (option == "layout") {
    const bloomgate::Layout* const found = bloomgate::find_layout(value);
    if (found == nullptr || !bloomgate::is_made_of_parts(*found)) {
      refuse("layout takes page or line here, not '" + std::string(value) + "'; 'bloomgate build' makes the others");
    }
    options.layout = *found;
  } else if (option == "bits-per-entry") {
    options.bits_per_entry = number_of<double>(option, value);
    bloomgate::blocks_for(1, options.bits_per_entry, 1);  // refuses what is out of range, or not a number
  } else if (option == "hashes") {
    options.hashes = number_of<std::uint32_t>(option, value);
  } else if (option == "block-bytes") {
    options.block_bytes = number_of<std::uint32_t>(option, value);
  } else if (option == "hash") {
    const auto found = bloomgate::find_hash_family(value);
    if (!found) refuse("hash takes xxh3, murmur3 or fnv1a-murmur3, not '" + std::string(value) + "'");
    options.hash_family = *found;
  } else if (option == "keep-case") {
    if (value != "yes" && value != "no") refuse("keep-case takes yes or no, not '" + std::string(value) + "'");
    options.profile.keep_local_part_case = value == "yes";
  } else if (option == "tag-separators") {
    const auto found = bloomgate::TagSeparators::parse(value);
    if (!found) refuse("tag-separators takes some of " + std::string(bloomgate::TagSeparators::kCharacters));
    options.profile.tag_separators = *found;
  } else {
    refuse("a shape has no option '" + std::string(option) + "'");
  }
  work_out(shape);
}

void require_hashes(const bloomgate_shape& shape) {
  const bloomgate::LayoutRules& rules = bloomgate::layout_rules(shape.shape.layout);
  if (rules.value_is_hash()) return;
  throw bloomgate::BloomgateError(
      bloomgate::ErrorCode::unsupported_layout,
      "in the layout " + std::string(rules.name()) + " an entry is not found by one hash of 64 bits");
}

// `canonicalize` takes a text and a profile.
template <typename Canonicalize>
int canonicalize_into(const bloomgate_shape* shape, const char* text, std::size_t bytes, char* key, std::size_t room,
                      std::size_t* key_bytes, int* kind, const char** reason, Canonicalize canonicalize) noexcept {
  return guarded([&] {
    require_pointer(shape, "shape");
    const Entry entry = canonicalize(text_at(text, bytes, "text"), shape->shape.profile);
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

int bloomgate_shape_new(uint64_t expected_entries, uint64_t seed, bloomgate_shape** shape) {
  return guarded([&] {
    require_pointer(shape, "shape");
    if (expected_entries == 0) refuse("a filter is made for at least one entry");
    auto made = std::make_unique<bloomgate_shape>();
    made->expected_entries = expected_entries;
    made->options.seed = seed;
    work_out(*made);
    *shape = made.release();
  });
}

void bloomgate_shape_free(bloomgate_shape* shape) {
  delete shape;
}

int bloomgate_shape_set(bloomgate_shape* shape, const char* option, size_t option_bytes, const char* value,
                        size_t value_bytes) {
  return guarded([&] {
    require_pointer(shape, "shape");
    bloomgate_shape changed = *shape;
    set(changed, text_at(option, option_bytes, "option"), text_at(value, value_bytes, "value"));
    *shape = changed;
  });
}

int bloomgate_shape_number(const bloomgate_shape* shape, int which, uint64_t* number) {
  return guarded([&] {
    require_pointer(shape, "shape");
    require_pointer(number, "number");
    switch (which) {
      case BLOOMGATE_HASHES:
        *number = shape->shape.hashes;
        return;
      case BLOOMGATE_BLOCK_BYTES:
        *number = shape->shape.block_bytes;
        return;
      case BLOOMGATE_BLOCK_COUNT:
        *number = shape->shape.block_count;
        return;
      case BLOOMGATE_SEED:
        *number = shape->shape.seed;
        return;
      case BLOOMGATE_KEEPS_CASE:
        *number = shape->shape.profile.keep_local_part_case ? 1 : 0;
        return;
      default:
        refuse("there is no number " + std::to_string(which) + " of a shape");
    }
  });
}

int bloomgate_canonicalize_address(const bloomgate_shape* shape, const char* text, size_t bytes, char* key, size_t room,
                                   size_t* key_bytes, int* kind, const char** reason) {
  return canonicalize_into(
      shape, text, bytes, key, room, key_bytes, kind, reason,
      [](std::string_view address, const auto& profile) { return bloomgate::canonicalize_path(address, profile); });
}

int bloomgate_canonicalize_entry(const bloomgate_shape* shape, const char* text, size_t bytes, char* key, size_t room,
                                 size_t* key_bytes, int* kind, const char** reason) {
  return canonicalize_into(
      shape, text, bytes, key, room, key_bytes, kind, reason,
      [](std::string_view line, const auto& profile) { return bloomgate::canonicalize_list_line(line, profile); });
}

int bloomgate_hash_key(const bloomgate_shape* shape, const char* key, size_t bytes, uint64_t* hash) {
  return guarded([&] {
    require_pointer(shape, "shape");
    require_pointer(hash, "hash");
    require_hashes(*shape);
    *hash = bloomgate::hash_of_address(shape->shape, text_at(key, bytes, "key"));
  });
}

int bloomgate_hash_column64(const bloomgate_shape* shape, const char* data, size_t data_bytes, const int64_t* offsets,
                            size_t count, uint64_t* hashes, uint8_t* kinds) {
  return guarded([&] {
    require_pointer(shape, "shape");
    require_hashes(*shape);
    const bloomgate::library::Column<int64_t> column(data, data_bytes, offsets, count);
    if (count == 0) return;
    require_pointer(hashes, "hashes");
    require_pointer(kinds, "kinds");
    for (std::size_t i = 0; i < count; ++i) {
      const Entry entry = bloomgate::canonicalize_list_line(column[i], shape->shape.profile);
      kinds[i] = static_cast<std::uint8_t>(kind_of(entry.kind()));
      hashes[i] = goes_into_bits(entry.kind()) ? bloomgate::hash_of_address(shape->shape, entry.key()) : 0;
    }
  });
}
