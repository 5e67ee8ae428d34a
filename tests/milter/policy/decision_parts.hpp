// What the tests of the decision put together again and again.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "filter/layout.hpp"
#include "milter/policy/decide.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate::test {

// A whitelist in memory, made from lines of a list, that turns damaged when it is told to.
class MemoryWhitelist final : public Whitelist {
 public:
  explicit MemoryWhitelist(const std::vector<std::string>& lines, AddressProfile profile = {}) {
    FilterShape shape;
    shape.block_count = kBlocks;
    shape.seed = 7;
    shape.profile = profile;
    for (const std::string& line : lines) {
      const Entry entry = canonicalize_line(line, profile);
      if (!entry.is_key()) throw std::logic_error("not an entry: " + line);
      shape.has_domains |= entry.kind() == EntryKind::domain;
      shape.has_domain_trees |= entry.kind() == EntryKind::domain_tree;
      insert_key(shape, bits_, entry.key());
    }
    view_ = FilterView(shape, bits_);
  }

  const FilterView& view() const noexcept override { return view_; }
  bool damaged() const noexcept override { return times_asked_++ >= damaged_from_; }

  // The answer is no for that many times, and yes from then on.
  void damage_after(unsigned times) { damaged_from_ = times; }

 private:
  static constexpr std::uint64_t kBlocks = 4;
  std::vector<std::byte> bits_ = std::vector<std::byte>(kBlocks * FilterShape{}.block_bytes);
  FilterView view_{{}, {}};
  unsigned damaged_from_ = ~0U;
  mutable unsigned times_asked_ = 0;
};

}  // namespace bloomgate::test
