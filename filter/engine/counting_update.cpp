#include "filter/engine/counting_update.hpp"

#include <algorithm>
#include <iterator>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/engine/store_merge.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/keep/generations.hpp"
#include "filter/layout/counters.hpp"
#include "filter/layout/counting_layout.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {
namespace {

void require_counters(const MappedFilter& filter) {
  const LayoutRules& rules = layout_rules(filter.header().shape.layout);
  if (rules.has_counters()) return;
  throw BloomgateError(ErrorCode::bad_argument,
                       filter.path() + " has the layout " + std::string(rules.name()) +
                           ", whose entries cannot be removed, and it is not changed in place; build one with " +
                           choice_names().layout +
                           " counting, or keep a store, which 'bloomgate update-store' changes exactly",
                       {.path = filter.path(), .expected = "counting", .got = std::string(rules.name())});
}

const MappedFilter& counting_one(const MappedFilter& filter) {
  require_counters(filter);
  return filter;
}

StoreShape hash_shape_of(const FilterShape& shape) noexcept {
  return {.hash_family = shape.hash_family, .seed = shape.seed, .profile = shape.profile};
}

void copy_sender_domains(FilterWriter& writer, const FilterHeader& header, const MappedFilter& from,
                         const std::atomic<bool>& stop) {
  writer.place(header);
  const std::span<const std::byte> bytes = from.bytes_of(*find_section(from.sections(), SectionKind::sender_domains));
  for (std::uint64_t at = 0; at < bytes.size(); at += kChecksumChunkBytes) {
    check_stop(stop);
    writer.write(SectionKind::sender_domains, at, bytes.subspan(at, std::min(kChecksumChunkBytes, bytes.size() - at)));
  }
}

}  // namespace

// The hashes of the changed addresses in ascending order, each once, a part at a time.
class CountingUpdate::SortedChanges {
 public:
  SortedChanges(const GatheredHashes& hashes, unsigned threads) : hashes_(hashes), threads_(threads) {}

  // The hashes that were not returned before and whose bytes, by `begin_of(hash)`, begin before `end`. Valid until the
  // next call.
  template <typename BeginOf>
  std::span<const KeyHash> next_before(std::uint64_t end, BeginOf begin_of) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(given_));
    while (partition_ < GatheredHashes::partition_count() && begin_of(GatheredHashes::first_hash(partition_)) < end) {
      sort_some();
    }
    const auto behind = std::ranges::partition_point(ready_, [&](KeyHash hash) { return begin_of(hash) < end; });
    given_ = static_cast<std::size_t>(behind - ready_.begin());
    return std::span<const KeyHash>(ready_).first(given_);
  }

 private:
  void sort_some() {
    const std::size_t count = std::min<std::size_t>(threads_, GatheredHashes::partition_count() - partition_);
    std::vector<std::vector<KeyHash>> sorted(count);
    for_each_parallel(threads_, count, [&](std::size_t i) { sorted[i] = hashes_.sorted_once(partition_ + i); });
    for (const std::vector<KeyHash>& each : sorted) ready_.insert(ready_.end(), each.begin(), each.end());
    partition_ += count;
  }

  const GatheredHashes& hashes_;
  unsigned threads_;
  std::size_t partition_ = 0;  // the next partition
  std::vector<KeyHash> ready_;
  std::size_t given_ = 0;
};

CountingUpdate::CountingUpdate(const MappedFilter& old, CountingChange change, const Options& options)
    : old_(counting_one(old)),
      change_(change),
      options_(options),
      shape_(old.header().shape),
      rules_(&layout_rules(shape_.layout)),
      entries_(hash_shape_of(shape_), options.threads, options.memory_bytes, options.scratch_folder,
               change == CountingChange::add && old.header().sender_domains.has_value()) {}

// A piece is some whole blocks with the old counters. `changes` are all changes of its blocks.
void CountingUpdate::change_piece(BodyPart piece, std::uint64_t bytes, std::span<const KeyHash> changes) {
  const std::span<const std::byte> old = old_.view().body().subspan(piece.begin, bytes);
  std::ranges::copy(old, piece.data);
  const auto listed_among = [&](const std::byte* counters, std::span<const KeyHash> hashes) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        hashes, [&](KeyHash hash) { return rules_->has_bits_of(shape_, {counters, piece.begin}, hash); }));
  };
  if (change_ == CountingChange::add) {
    for (const KeyHash hash : changes) count_entry(shape_, piece, hash);
    const std::uint64_t listed_before = listed_among(old.data(), changes);
    const std::lock_guard lock(mutex_);
    counts_.addresses += changes.size();
    counts_.looked_present += listed_before;
    return;
  }
  std::vector<KeyHash> removed;
  std::ranges::copy_if(changes, std::back_inserter(removed),
                       [&](KeyHash hash) { return discount_entry(shape_, piece, hash); });
  const std::uint64_t still_listed = listed_among(piece.data, removed);
  const std::lock_guard lock(mutex_);
  counts_.addresses += removed.size();
  counts_.still_listed += still_listed;
  counts_.addresses_not_there += changes.size() - removed.size();
}

void CountingUpdate::write_counters(BodyWriter& writer, const std::atomic<bool>& stop) {
  constexpr std::uint64_t kWindowBytes = std::uint64_t{64} << 20;
  const std::uint64_t array_bytes = body_bytes(shape_);
  // Both are powers of two, so that a window has whole pieces, and a piece has whole blocks.
  const std::uint64_t piece_bytes = std::max<std::uint64_t>(rules_->parts(shape_).bytes, kChecksumChunkBytes);
  const AnonymousMemory window(std::min(kWindowBytes, array_bytes), "a part of the counters");
  SortedChanges sorted(entries_.addresses(), options_.threads);
  const auto begin_of = [&](KeyHash hash) { return rules_->bytes_of(shape_, hash).begin; };
  for (std::uint64_t begin = 0; begin < array_bytes; begin += kWindowBytes) {
    const std::uint64_t end = std::min(begin + kWindowBytes, array_bytes);
    const std::span<const KeyHash> changes = sorted.next_before(end, begin_of);
    for_each_parallel(options_.threads, (end - begin + piece_bytes - 1) / piece_bytes, [&](std::size_t i) {
      check_stop(stop);
      const std::uint64_t at = begin + i * piece_bytes;
      const std::uint64_t bytes = std::min(piece_bytes, end - at);
      const auto from = std::ranges::lower_bound(changes, at, {}, begin_of);
      const auto to = std::ranges::lower_bound(from, changes.end(), at + bytes, {}, begin_of);
      change_piece({window.bytes().data() + (at - begin), at}, bytes, {from, to});
    });
    writer.write(begin, window.bytes().first(end - begin));
    writer.finish();
  }
}

// Calls `use` with runs of the new domain entries, all in ascending order.
void CountingUpdate::merge_domains(const std::function<void(std::span<const KeyHash>)>& use,
                                   CountingCounts& counts) const {
  const SortedHashes& old = old_.view().domains();
  std::uint64_t at = 0;
  for (std::size_t partition = 0; partition < GatheredHashes::partition_count(); ++partition) {
    const std::vector<KeyHash> changes = entries_.domains().sorted_once(partition);
    std::vector<KeyHash> there;
    for (; at < old.size() && old[at] <= GatheredHashes::last_hash(partition); ++at) there.push_back(old[at]);
    std::vector<KeyHash> merged;
    if (change_ == CountingChange::add) {
      std::ranges::set_union(there, changes, std::back_inserter(merged));
      counts.domains += merged.size() - there.size();
      counts.domains_there += there.size() + changes.size() - merged.size();
    } else {
      std::ranges::set_difference(there, changes, std::back_inserter(merged));
      counts.domains += there.size() - merged.size();
      counts.domains_not_there += changes.size() - (there.size() - merged.size());
    }
    if (!merged.empty()) use(merged);
  }
}

// Unites the domains of the old file and of the added entries. Returns their number.
std::uint64_t CountingUpdate::unite_sender_domains() {
  SenderDomainsCursor old(old_.view().sender_domains());
  std::vector<KeyHash> run;
  while (old.peek()) {
    run.clear();
    for (; old.peek() && run.size() < kEntriesAtOnce; old.advance()) run.push_back(hash_of_number(*old.peek()));
    entries_.add_stored_sender_domains(run);
  }
  return entries_.sender_domains()->unite(options_.threads).numbers;
}

FilterHeader CountingUpdate::write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress,
                                   const std::function<void(const CountingCounts&)>& review) {
  counts_ = {};
  merge_domains([](std::span<const KeyHash>) {}, counts_);
  FilterHeader header = old_.header();
  const bool adds = change_ == CountingChange::add;
  header.domains = adds ? header.domains + counts_.domains : header.domains - counts_.domains;
  GatheredDomains* const sender_domains = entries_.sender_domains();
  if (sender_domains != nullptr) header.sender_domains = unite_sender_domains();
  FilterWriter writer(path, header);
  BodyWriter body(writer, shape_, options_.threads, stop, progress);
  write_counters(body, stop);
  header.bits_set = body.ones();
  header.saturated = body.saturated();
  // At most as many addresses are removed as were added, unless some are removed that were never added; then the number
  // means nothing.
  header.addresses =
      adds ? header.addresses + counts_.addresses : header.addresses - std::min(header.addresses, counts_.addresses);
  // The minimum that a header may have: each address uses at most that many counters.
  header.addresses = std::max(header.addresses, (header.bits_set + shape_.hashes - 1) / shape_.hashes);
  SectionStream domains(writer.file(), SectionKind::domains);
  CountingCounts again;
  merge_domains(
      [&](std::span<const KeyHash> hashes) {
        check_stop(stop);
        domains.add(hashes);
      },
      again);
  domains.finish();
  if (adds) {
    header.kinds = kinds_after(header.kinds, entries_.kinds(), counts_.addresses);
  }
  header.kinds = limited(header.kinds, header.addresses, header.domains);
  if (sender_domains != nullptr) {
    write_sender_domains(writer, header, nullptr, *sender_domains, options_.threads, stop);
  } else if (header.sender_domains) {
    copy_sender_domains(writer, header, old_, stop);
  }
  old_.require_whole();
  review(counts_);
  check_stop(stop);
  writer.commit(header, options_.threads, keeping(options_.kept_generations));
  return header;
}

FilterHeader export_filter(const MappedFilter& counting, const std::string& path, unsigned threads, unsigned kept,
                           const std::atomic<bool>& stop, WriteProgress& progress, const SecretKey* key) {
  require_counters(counting);
  FilterHeader header = counting.header();
  header.shape = exported_shape(header.shape);
  header.saturated = 0;
  const std::span<const std::byte> counters = counting.view().body();
  const std::uint64_t array_bytes = body_bytes(header.shape);
  FilterWriter writer(path, header);
  progress.total_bytes = array_bytes;
  std::atomic<std::uint64_t> bits_set{0};
  for_each_parallel(threads, Section{.bytes = array_bytes}.chunk_count(), [&](std::size_t chunk) {
    check_stop(stop);
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    std::vector<std::byte> bits(std::min(kChecksumChunkBytes, array_bytes - begin));
    bits_of_counters(counters.subspan(begin * kCounterBits, bits.size() * kCounterBits), bits);
    bits_set += FilterView(header.shape, bits).count_ones();
    writer.write(SectionKind::bits, begin, bits);
    progress.done_bytes += bits.size();
  });
  header.bits_set = bits_set;
  SectionStream domains(writer.file(), SectionKind::domains);
  const SortedHashes& entries = counting.view().domains();
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const KeyHash hash = entries[i];
    domains.add({&hash, 1});
  }
  domains.finish();
  if (header.sender_domains) copy_sender_domains(writer, header, counting, stop);
  counting.require_whole();
  check_stop(stop);
  writer.commit(header, threads, keeping(kept), key);
  return header;
}

}  // namespace bloomgate
