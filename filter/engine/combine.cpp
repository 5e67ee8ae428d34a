#include "filter/engine/combine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

[[noreturn]] void refuse_to_combine(const MappedFilter& a, const MappedFilter& b, const std::string& what,
                                    const std::string& got_a, const std::string& got_b) {
  const ChoiceNames& names = choice_names();
  throw BloomgateError(ErrorCode::bad_argument,
                       a.path() + " and " + b.path() + " cannot be combined: they differ in " + what + " (" + got_a +
                           " and " + got_b + "); build both with " + names.size_and_seed + ", " + names.store_seed +
                           ", " + names.keep_case + " and " + names.tag_separators,
                       {b.path(), {}, got_a, got_b});
}

std::string quoted(TagSeparators separators) {
  return separators.none() ? "none" : "'" + separators.text() + "'";
}

// The file has only those excluded senders whose bits are all set in it, and no longer shows which excluded senders are
// entries elsewhere.
void require_no_strangers(const MappedFilter& filter) {
  if (filter.header().strangers.known == 0) return;
  throw BloomgateError(
      ErrorCode::bad_argument,
      filter.path() + " was built with " + choice_names().strangers +
          ": which of the excluded senders the bits of a combination hit cannot be told from it; build "
          "a new filter from the lists",
      {.path = filter.path()});
}

// Throws unless the combined bits of the filters are the bits of the combination.
void require_bits(const MappedFilter& filter) {
  const LayoutRules& rules = layout_rules(filter.header().shape.layout);
  if (!rules.needs_whole_blocks()) return;
  throw BloomgateError(
      ErrorCode::bad_argument,
      filter.path() + " has the layout " + std::string(rules.name()) +
          ", whose blocks are made of all their entries at once; build a new filter from the lists, or "
          "use filters of another layout",
      {.path = filter.path()});
}

template <typename Value>
void require_equal(const MappedFilter& a, const MappedFilter& b, const char* what, Value of_a, Value of_b) {
  if (of_a != of_b) refuse_to_combine(a, b, what, std::to_string(of_a), std::to_string(of_b));
}

std::span<const std::byte> chunk_of(const MappedFilter& filter, std::uint64_t chunk) noexcept {
  const std::span<const std::byte> body = filter.view().body();
  const std::uint64_t begin = chunk * kChecksumChunkBytes;
  return body.subspan(begin, std::min(kChecksumChunkBytes, body.size() - begin));
}

void combine_into(std::span<std::byte> to, std::span<const std::byte> from, Combination combination) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = combination == Combination::unite ? to[i] | from[i] : to[i] & from[i];
  }
}

// The combination of one chunk of all filters, in `buffer`.
std::span<const std::byte> combined_chunk(std::span<const MappedFilter* const> filters, Combination combination,
                                          std::uint64_t chunk, std::vector<std::byte>& buffer) {
  const std::span<const std::byte> first = chunk_of(*filters.front(), chunk);
  buffer.assign(first.begin(), first.end());
  for (const MappedFilter* filter : filters.subspan(1)) combine_into(buffer, chunk_of(*filter, chunk), combination);
  return buffer;
}

KindsHeld intersected(const KindsHeld& a, const KindsHeld& b) noexcept {
  return {std::min(a.pairs_in_bits, b.pairs_in_bits), a.domain_pairs && b.domain_pairs, a.signers && b.signers};
}

FilterHeader combined_header(std::span<const MappedFilter* const> filters, Combination combination) {
  FilterHeader header = filters.front()->header();
  header.store_identity = 0;  // no store has the entries of the combination
  for (const MappedFilter* filter : filters.subspan(1)) {
    const FilterHeader& other = filter->header();
    header.expected_entries = std::max(header.expected_entries, other.expected_entries);
    header.addresses = saturating_sum(header.addresses, other.addresses);
    // An upper bound until they are counted.
    header.domains = combination == Combination::unite ? saturating_sum(header.domains, other.domains)
                                                       : std::min(header.domains, other.domains);
    if (combination == Combination::unite) {
      header.kinds += other.kinds;
    } else {
      header.kinds = intersected(header.kinds, other.kinds);
    }
  }
  return header;
}

// The number of addresses that set so many bits on average, but never fewer than the minimum that can set them.
std::uint64_t addresses_of_fill(const FilterHeader& header) noexcept {
  const std::uint64_t least =
      header.bits_set / header.shape.hashes + (header.bits_set % header.shape.hashes != 0 ? 1 : 0);
  const double distinct = distinct_entries(header.bits_set, header.shape);
  // A full array only shows that there are many.
  if (!std::isfinite(distinct)) return std::max(least, header.addresses);
  return std::max(least, static_cast<std::uint64_t>(std::llround(distinct)));
}

std::uint64_t chunk_count(const FilterShape& shape) {
  return Section{.bytes = body_bytes(shape)}.chunk_count();
}

// Iterates over the hashes of domain entries in ascending order.
class DomainEntriesCursor {
 public:
  explicit DomainEntriesCursor(const SortedHashes& hashes) : hashes_(&hashes) {}

  std::optional<KeyHash> peek() const noexcept {
    return at_ == hashes_->size() ? std::nullopt : std::optional((*hashes_)[at_]);
  }
  void advance() noexcept { ++at_; }

 private:
  const SortedHashes* hashes_;
  std::uint64_t at_ = 0;
};

// Calls `use` with runs of the numbers that any of the cursors has, or that all have: each once, in ascending order.
template <typename Cursor, typename Use>
void for_each_combined(std::vector<Cursor> cursors, Combination combination, Use use) {
  constexpr std::size_t kRun = 1 << 16;
  std::vector<std::uint64_t> run;
  while (true) {
    std::optional<std::uint64_t> least;
    for (const Cursor& cursor : cursors) {
      const std::optional<std::uint64_t> next = cursor.peek();
      if (next && (!least || *next < *least)) least = next;
    }
    if (!least) break;
    std::size_t holders = 0;
    for (Cursor& cursor : cursors) {
      if (cursor.peek() != least) continue;
      ++holders;
      cursor.advance();
    }
    if (combination == Combination::unite || holders == cursors.size()) run.push_back(*least);
    if (run.size() < kRun) continue;
    use(std::span<const std::uint64_t>(run));
    run.clear();
  }
  if (!run.empty()) use(std::span<const std::uint64_t>(run));
}

template <typename Use>
void for_each_domain_entry(std::span<const MappedFilter* const> filters, Combination combination, Use use) {
  std::vector<DomainEntriesCursor> cursors;
  for (const MappedFilter* filter : filters) cursors.emplace_back(filter->view().domains());
  for_each_combined(std::move(cursors), combination, use);
}

// The filters whose sender domains make those of the combination; empty if the combination gets no such section.
std::vector<const MappedFilter*> holders_of_sender_domains(std::span<const MappedFilter* const> filters,
                                                           Combination combination) {
  std::vector<const MappedFilter*> holders;
  for (const MappedFilter* filter : filters) {
    if (filter->view().sender_domains().is_there()) {
      holders.push_back(filter);
    } else if (combination == Combination::unite && !filter->header().knows_sender_domains()) {
      return {};  // the domains of its addresses are not known
    }
  }
  return holders;
}

ForEachDomain each_sender_domain_of(const std::vector<const MappedFilter*>& holders, Combination combination) {
  return [&holders, combination](const std::function<void(std::span<const DomainNumber>)>& use) {
    std::vector<SenderDomainsCursor> cursors;
    for (const MappedFilter* filter : holders) cursors.emplace_back(filter->view().sender_domains());
    for_each_combined(std::move(cursors), combination, use);
  };
}

}  // namespace

void require_same_shape(const MappedFilter& a, const MappedFilter& b) {
  const FilterShape& shape_a = a.header().shape;
  const FilterShape& shape_b = b.header().shape;
  require_equal(a, b, "layout", static_cast<std::uint32_t>(shape_a.layout), static_cast<std::uint32_t>(shape_b.layout));
  require_equal(a, b, "hash family", static_cast<std::uint32_t>(shape_a.hash_family),
                static_cast<std::uint32_t>(shape_b.hash_family));
  require_equal(a, b, "number of hashes", shape_a.hashes, shape_b.hashes);
  require_equal(a, b, "size of a block", shape_a.block_bytes, shape_b.block_bytes);
  require_equal(a, b, "number of blocks", shape_a.block_count, shape_b.block_count);
  require_equal(a, b, "seed", shape_a.seed, shape_b.seed);
  require_equal(a, b, "whether they are made from a store", shape_a.store_seed.has_value(),
                shape_b.store_seed.has_value());
  require_equal(a, b, "seed of the store", shape_a.store_seed.value_or(0), shape_b.store_seed.value_or(0));
  require_equal(a, b, "whether the case of local parts is kept", shape_a.profile.keep_local_part_case,
                shape_b.profile.keep_local_part_case);
  const TagSeparators separators_a = shape_a.profile.tag_separators;
  const TagSeparators separators_b = shape_b.profile.tag_separators;
  if (separators_a != separators_b)
    refuse_to_combine(a, b, "tag separators", quoted(separators_a), quoted(separators_b));
}

FilterHeader combine_filters(std::span<const MappedFilter* const> filters, Combination combination,
                             const std::string& path, unsigned threads, const std::atomic<bool>& stop,
                             const SecretKey* key) {
  for (const MappedFilter* filter : filters) filter->require_no_counters();
  require_bits(*filters.front());
  for (const MappedFilter* filter : filters.subspan(1)) require_same_shape(*filters.front(), *filter);
  for (const MappedFilter* filter : filters) require_no_strangers(*filter);
  FilterHeader header = combined_header(filters, combination);
  const std::vector<const MappedFilter*> holders = holders_of_sender_domains(filters, combination);
  const ForEachDomain each_sender_domain = each_sender_domain_of(holders, combination);
  header.sender_domains = holders.empty() ? std::nullopt : std::optional(count_sender_domains(each_sender_domain));
  FilterWriter writer(path, header);
  std::atomic<std::uint64_t> bits_set{0};
  for_each_parallel(threads, chunk_count(header.shape), [&](std::size_t chunk) {
    check_stop(stop);
    std::vector<std::byte> buffer;
    const std::span<const std::byte> bytes = combined_chunk(filters, combination, chunk, buffer);
    bits_set += FilterView(header.shape, bytes).count_ones();
    writer.write(SectionKind::bits, chunk * kChecksumChunkBytes, bytes);
  });
  header.bits_set = bits_set;
  if (combination == Combination::intersect) header.addresses = addresses_of_fill(header);
  SectionStream domains(writer.file(), SectionKind::domains);
  for_each_domain_entry(filters, combination, [&](std::span<const KeyHash> hashes) {
    check_stop(stop);
    domains.add(hashes);
  });
  header.domains = domains.finish();
  header.kinds = limited(header.kinds, header.addresses, header.domains);
  if (header.sender_domains) write_sender_domains(writer, header, until_stopped(each_sender_domain, stop));
  for (const MappedFilter* filter : filters) filter->require_whole();
  check_stop(stop);
  writer.commit(header, threads, {}, key);
  return header;
}

Overlap estimate_overlap(const MappedFilter& a, const MappedFilter& b, unsigned threads) {
  for (const MappedFilter* filter : {&a, &b}) filter->require_no_counters();
  require_bits(a);
  require_same_shape(a, b);
  const FilterShape& shape = a.header().shape;
  const std::array<const MappedFilter*, 2> filters = {&a, &b};
  std::atomic<std::uint64_t> bits_of_either{0};
  for_each_parallel(threads, chunk_count(shape), [&](std::size_t chunk) {
    std::vector<std::byte> buffer;
    const auto bytes = combined_chunk(filters, Combination::unite, chunk, buffer);
    bits_of_either += FilterView(shape, bytes).count_ones();
  });
  Overlap overlap = {.a = distinct_entries(a.header().bits_set, shape),
                     .b = distinct_entries(b.header().bits_set, shape),
                     .either = distinct_entries(bits_of_either, shape),
                     .domains_of_a = a.header().domains,
                     .domains_of_b = b.header().domains};
  overlap.both = std::max(0.0, overlap.a + overlap.b - overlap.either);
  for_each_domain_entry(filters, Combination::intersect,
                        [&](std::span<const KeyHash> hashes) { overlap.domains_of_both += hashes.size(); });
  for (const MappedFilter* filter : filters) filter->require_whole();
  return overlap;
}

}  // namespace bloomgate
