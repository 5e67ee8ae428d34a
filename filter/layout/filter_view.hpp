// A filter in memory, wherever it came from: the shape of the bit array, and look-ups in it.
//
// A view owns nothing: the bytes must outlive it. Look-ups are const, noexcept, allocate nothing and may run in any
// number of threads at once; the layout says what each one touches (layout.hpp). MappedFilter makes views; tests and
// the builder make them over their own arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

// By which entry an address is listed; the most specific one found.
enum class Match : std::uint8_t {
  none,         // not listed
  address,      // by itself
  domain,       // by `@domain`
  domain_tree,  // by `@.domain` of its domain or one above it
};

// "not-listed", "address", "domain", "domain-tree".
std::string_view match_name(Match match) noexcept;

class FilterView {
 public:
  // `body` must be block_count * block_bytes long and the shape one that validate_shape() in file_format.hpp accepts.
  FilterView(const FilterShape& shape, std::span<const std::byte> body) noexcept
      : shape_(shape), body_(body), rules_(&layout_rules(shape.layout)) {}

  const FilterShape& shape() const noexcept { return shape_; }
  std::span<const std::byte> body() const noexcept { return body_; }

  // Whether `key` (canonical bytes) may be in the filter. False is certain; true is wrong at the false-positive rate.
  bool may_contain(std::string_view key) const noexcept {
    std::array<std::uint64_t, kMaxHashes> values;
    rules_->values_of(shape_, key, values.data());
    return rules_->has_bits(shape_, body_.data(), values.data());
  }

  // How an address entry is listed. It takes one look-up for the address; one more if the filter holds `@domain`
  // entries; and one for each label of the domain if it holds `@.domain` entries (each look-up adds its own false
  // positives, hence the flags). Entries of kind domain and domain_tree are looked up as they are. Anything else is not
  // listed. `entry` must have been made with shape().profile.
  Match find(const Entry& entry) const noexcept;

  // The same for an address whose own key was not found: whether its domain lists it. `domain_key` is the tail of that
  // key, from the '@'.
  Match find_by_domain(std::string_view domain_key) const noexcept;

  // How many bits of the body are 1. Reads all of it.
  std::uint64_t count_ones() const noexcept;

 private:
  FilterShape shape_;
  std::span<const std::byte> body_;
  const LayoutRules* rules_;
};

}  // namespace bloomgate
