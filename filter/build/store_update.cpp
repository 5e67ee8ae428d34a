#include "filter/build/store_update.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>

#include "filter/base/parallel.hpp"
#include "filter/build/body_stream.hpp"
#include "filter/build/publish_pair.hpp"
#include "filter/build/stop_check.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/file/store_writer.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

BuildOptions options_for(const StoreFile& old, BuildOptions options) {
  const StoreShape& shape = old.header().shape;
  options.hash_family = shape.hash_family;
  options.profile = shape.profile;
  options.store_seed = shape.seed;
  return options;
}

void add_to(UpdateCounts& sum, const UpdateCounts& counts) {
  sum.added += counts.added;
  sum.already_there += counts.already_there;
  sum.removed += counts.removed;
  sum.not_there += counts.not_there;
  sum.both += counts.both;
}

std::span<const KeyHash> within(const std::vector<KeyHash>& hashes, KeyHash first, KeyHash last) {
  const auto begin = std::ranges::lower_bound(hashes, first);
  return {begin, std::ranges::upper_bound(begin, hashes.end(), last)};
}

// Appends (old without removed) and added. All ascend strictly, and nothing is both added and removed.
void merge_hashes(std::span<const KeyHash> old, std::span<const KeyHash> added, std::span<const KeyHash> removed,
                  std::vector<KeyHash>& out, UpdateCounts& counts) {
  const std::size_t before = out.size();
  const std::size_t most = old.size() + added.size();
  auto add = added.begin();
  auto remove = removed.begin();
  std::uint64_t already_there = 0;
  std::uint64_t gone = 0;
  out.reserve(before + most);
  for (auto next = old.begin(); next != old.end();) {
    // Most runs are without a change.
    const KeyHash change =
        std::min(add == added.end() ? ~KeyHash{0} : *add, remove == removed.end() ? ~KeyHash{0} : *remove);
    const auto unchanged = std::lower_bound(next, old.end(), change);
    out.insert(out.end(), next, unchanged);
    next = unchanged;
    if (next == old.end()) break;
    if (add != added.end() && *add <= *next) {
      if (*add == *next) {
        ++already_there;
        ++next;
      }
      out.push_back(*add++);
    } else if (remove != removed.end() && *remove <= *next) {
      if (*remove == *next) {
        ++gone;
        ++next;
      }
      ++remove;
    } else {
      out.push_back(*next++);  // the greatest hash of all
    }
  }
  out.insert(out.end(), add, added.end());
  counts.already_there += already_there;
  counts.added += added.size() - already_there;
  counts.removed += gone;
  counts.not_there += removed.size() - gone;
}

}  // namespace

// Sorted, each once, within a partition.
struct StoreUpdate::Changes {
  std::vector<KeyHash> added;  // and not removed
  std::vector<KeyHash> removed;
  std::uint64_t both = 0;
};

// Some pages of the old store, and the hashes from `first` to `last` that they have or would have.
struct StoreUpdate::Piece {
  std::uint64_t first_page = 0;
  std::uint64_t end_page = 0;
  KeyHash first = 0;
  KeyHash last = 0;
};

StoreUpdate::StoreUpdate(const StoreFile& old, const BuildOptions& options)
    : old_(old),
      options_(options_for(old, options)),
      shape_(shape_of(options_)),
      added_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder),
      removed_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder) {}

StoreUpdate::Changes StoreUpdate::changes_of(const GatheredHashes& added, const GatheredHashes& removed,
                                             std::size_t partition) const {
  Changes changes;
  changes.removed = removed.sorted_once(partition);
  const std::vector<KeyHash> wanted = added.sorted_once(partition);
  std::ranges::set_difference(wanted, changes.removed, std::back_inserter(changes.added));
  changes.both = wanted.size() - changes.added.size();
  return changes;
}

std::vector<StoreUpdate::Piece> StoreUpdate::pieces_of(std::size_t partition) const {
  constexpr std::uint64_t kPages = 128;
  const KeyHash first = added_.addresses().first_hash(partition);
  const KeyHash last = added_.addresses().last_hash(partition);
  const std::span<const KeyHash> index = old_.first_hashes();
  const auto begin = std::ranges::upper_bound(index, first);
  const auto end_page = static_cast<std::uint64_t>(std::ranges::upper_bound(index, last) - index.begin());
  // The page before may have some, too.
  std::uint64_t page = begin == index.begin() ? 0 : static_cast<std::uint64_t>(begin - index.begin()) - 1;
  std::vector<Piece> pieces;
  for (KeyHash at = first; page + kPages < end_page; page += kPages) {
    pieces.push_back({page, page + kPages, at, index[page + kPages] - 1});
    at = index[page + kPages];
  }
  pieces.push_back({page, end_page, pieces.empty() ? first : pieces.back().last + 1, last});
  return pieces;
}

void StoreUpdate::merge(const Piece& piece, const Changes& changes, std::vector<KeyHash>& out,
                        UpdateCounts& counts) const {
  std::vector<KeyHash> old;
  if (piece.first_page != piece.end_page) old_.read_pages(piece.first_page, piece.end_page, old);
  merge_hashes(within(old, piece.first, piece.last), within(changes.added, piece.first, piece.last),
               within(changes.removed, piece.first, piece.last), out, counts);
}

UpdateCounts StoreUpdate::count_addresses(const std::atomic<bool>& stop) const {
  UpdateCounts sum;
  std::mutex mutex;
  for_each_parallel(options_.threads, GatheredHashes::partition_count(), [&](std::size_t partition) {
    check_stop(stop);
    const Changes changes = changes_of(added_.addresses(), removed_.addresses(), partition);
    UpdateCounts counts = {.both = changes.both};
    std::vector<KeyHash> merged;
    for (const Piece& piece : pieces_of(partition)) {
      if (within(changes.added, piece.first, piece.last).empty() &&
          within(changes.removed, piece.first, piece.last).empty()) {
        continue;
      }
      merged.clear();
      merge(piece, changes, merged, counts);
    }
    const std::lock_guard lock(mutex);
    add_to(sum, counts);
  });
  return sum;
}

// Calls `use` with runs of the new domain entries, all in ascending order.
UpdateCounts StoreUpdate::merge_domains(const std::function<void(std::span<const KeyHash>)>& use) const {
  UpdateCounts counts;
  std::size_t partition = 0;
  std::vector<KeyHash> old;
  const auto merge_up_to = [&](std::size_t end) {
    for (; partition < end; ++partition) {
      const Changes changes = changes_of(added_.domains(), removed_.domains(), partition);
      std::vector<KeyHash> merged;
      merge_hashes(old, changes.added, changes.removed, merged, counts);
      counts.both += changes.both;
      if (!merged.empty()) use(merged);
      old.clear();
    }
  };
  old_.for_each_domain([&](std::span<const KeyHash> run) {
    for (const KeyHash hash : run) {
      if (hash > added_.domains().last_hash(partition)) merge_up_to(added_.domains().partition_of(hash));
      old.push_back(hash);
    }
  });
  merge_up_to(GatheredHashes::partition_count());
  return counts;
}

UpdateCounts StoreUpdate::count(const std::atomic<bool>& stop) {
  UpdateCounts counts = count_addresses(stop);
  addresses_ = old_.header().addresses + counts.added - counts.removed;
  const UpdateCounts of_domains = merge_domains([](std::span<const KeyHash>) {});
  domains_ = old_.header().domains + of_domains.added - of_domains.removed;
  add_to(counts, of_domains);
  return counts;
}

void StoreUpdate::write_addresses(BodyWriter& body, StoreWriter& store, const std::atomic<bool>& stop) const {
  BodyStream stream(body, shape_, options_.threads);
  std::uint64_t found = 0;
  for (std::size_t partition = 0; partition < GatheredHashes::partition_count(); ++partition) {
    const Changes changes = changes_of(added_.addresses(), removed_.addresses(), partition);
    const std::vector<Piece> pieces = pieces_of(partition);
    std::vector<std::vector<KeyHash>> merged(pieces.size());
    std::vector<UpdateCounts> counts(pieces.size());
    for_each_parallel(options_.threads, pieces.size(), [&](std::size_t i) {
      check_stop(stop);
      merge(pieces[i], changes, merged[i], counts[i]);
    });
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      found += merged[i].size() + counts[i].removed - counts[i].added;
      store.add(merged[i]);
      stream.add(merged[i]);
    }
  }
  stream.finish();
  old_.require_addresses(found);
}

FilterHeader StoreUpdate::write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress) {
  const std::uint64_t sized_for = options_.expected_entries.value_or(std::max<std::uint64_t>(1, addresses_));
  shape_.block_count = blocks_for(sized_for, options_.bits_per_entry, shape_.block_bytes);
  FilterHeader header = {.shape = shape_, .expected_entries = sized_for, .addresses = addresses_, .domains = domains_};
  FilterWriter writer(path, header);
  StoreWriter store(options_.store_path, old_.header().shape, addresses_, domains_, options_.threads);
  BodyWriter body(writer, shape_, options_.threads, stop, progress);
  write_addresses(body, store, stop);
  header.bits_set = body.ones();
  SectionStream domains(writer.file(), SectionKind::domains);
  merge_domains([&](std::span<const KeyHash> hashes) {
    check_stop(stop);
    domains.add(hashes);
    store.add_domains(hashes);
  });
  header.domains = domains.finish();
  old_.require_unchanged();
  check_stop(stop);
  publish_pair(writer, header, path, store, options_.store_path, options_.threads);
  return header;
}

}  // namespace bloomgate
