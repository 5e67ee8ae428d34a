#include "filter/build/store_update.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/base/write_behind.hpp"
#include "filter/build/body_stream.hpp"
#include "filter/build/excluded_section.hpp"
#include "filter/build/publish_pair.hpp"
#include "filter/build/stop_check.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/file/store_writer.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
BuildOptions StoreUpdate::options_for(const StoreFile& old, BuildOptions options) {
  const StoreShape& shape = old.header().shape;
  options.hash_family = shape.hash_family;
  options.profile = shape.profile;
  options.store_seed = shape.seed;
  return options;
}

StoreUpdate::StoreUpdate(const StoreFile& old, const BuildOptions& options, std::uint64_t hashes_of_round)
    : old_(old),
      options_(options_for(old, options)),
      shape_(shape_of(options_)),
      added_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder),
      removed_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder),
      merge_(old, added_.addresses(), removed_.addresses(), options.threads, hashes_of_round) {}

// Calls `use` with runs of the new domain entries, all in ascending order.
UpdateCounts StoreUpdate::merge_domains(const std::function<void(std::span<const KeyHash>)>& use) const {
  UpdateCounts counts;
  std::size_t partition = 0;
  std::vector<KeyHash> old;
  const auto merge_up_to = [&](std::size_t end) {
    for (; partition < end; ++partition) {
      const PartitionChanges changes = changes_of(added_.domains(), removed_.domains(), partition);
      std::vector<KeyHash> merged;
      counts += merge_hashes(old, changes.added, changes.removed, merged);
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

void StoreUpdate::set_strangers(KnownStrangers& strangers, std::function<void()> review) {
  strangers_ = &strangers;
  review_ = std::move(review);
}

UpdateCounts StoreUpdate::count(const std::atomic<bool>& stop) {
  UpdateCounts counts = merge_.count(stop);
  addresses_ = old_.header().addresses + counts.added - counts.removed;
  pairs_ = old_.header().pairs;
  // Of what is new in the bits, which is no more than all of it.
  pairs_.in_bits += std::min(added_.pairs().in_bits, counts.added);
  pairs_.with_domains |= added_.pairs().with_domains;
  const UpdateCounts of_domains = merge_domains([](std::span<const KeyHash>) {});
  domains_ = old_.header().domains + of_domains.added - of_domains.removed;
  counts += of_domains;
  return counts;
}

// The round that is written, and the next one. What is written of a round depends on what was left of the one before;
// its parts, and the pieces of the next round, are then made by all threads in any order.
class StoreUpdate::Pipeline {
 public:
  Pipeline(StoreMerge& merge, FilterWriter& filter, StoreWriter& store, const FilterShape& shape, unsigned threads,
           KnownStrangers* strangers, const std::atomic<bool>& stop, WriteProgress& progress)
      : merge_(merge),
        filter_(filter),
        store_(store),
        shape_(shape),
        strangers_(strangers),
        stop_(stop),
        progress_(progress),
        body_(shape),
        scratch_(threads),
        disk_(kChecksumChunkBytes, 2 * threads + 2 * kWriters, kWriters) {
    progress_.total_bytes = body_bytes(shape);
  }

  void run() {
    bool is_last = !merge_.next_round(round_);
    make_parts({}, {});
    while (!is_last) {
      gather();
      is_last = !merge_.next_round(round_);
      std::span<const KeyHash> left_of_body = std::span(hashes_).subspan(hashes_.size() - left_of_body_);
      std::span<const KeyHash> left_of_store = std::span(hashes_).subspan(hashes_.size() - left_of_store_);
      const std::vector<BodyStream::Chunk> body = body_.cut(left_of_body, is_last);
      const std::vector<StoreChunk> store = store_.cut(left_of_store, is_last);
      make_parts(body, store);
      left_of_body_ = left_of_body.size();
      left_of_store_ = left_of_store.size();
    }
    disk_.finish();
  }

  std::uint64_t ones() const noexcept { return ones_; }
  // Of the old store, found in it.
  std::uint64_t found() const noexcept { return found_; }

 private:
  static constexpr unsigned kWriters = 4;  // what disks need at least to be as fast as they can

  // Puts the merged pieces behind what is left of the round before.
  void gather() {
    const std::size_t kept = std::max(left_of_body_, left_of_store_);
    std::copy(hashes_.end() - static_cast<std::ptrdiff_t>(kept), hashes_.end(), hashes_.begin());
    std::vector<std::size_t> begins;
    std::size_t end = kept;
    for (const StoreMerge::Piece& piece : round_) {
      begins.push_back(end);
      end += piece.merged.size();
      found_ += piece.merged.size() + piece.counts.removed - piece.counts.added;
    }
    hashes_.resize(end);
    for_each_parallel(static_cast<unsigned>(scratch_.size()), round_.size(), [&](std::size_t i) {
      std::ranges::copy(round_[i].merged, hashes_.begin() + static_cast<std::ptrdiff_t>(begins[i]));
    });
    left_of_body_ += end - kept;
    left_of_store_ += end - kept;
  }

  // The largest ones first, so that no thread waits long for the others.
  void make_parts(const std::vector<BodyStream::Chunk>& body, const std::vector<StoreChunk>& store) {
    std::atomic<std::size_t> next{0};
    run_parallel(static_cast<unsigned>(scratch_.size()), [&](unsigned thread) {
      const std::size_t parts = body.size() + store.size() + round_.size();
      for (std::size_t i; (i = next.fetch_add(1)) < parts;) {
        check_stop(stop_);
        if (i < body.size()) {
          make(body[i]);
        } else if (i - body.size() < store.size()) {
          make(store[i - body.size()]);
        } else {
          merge_.merge(round_[i - body.size() - store.size()], scratch_[thread]);
        }
      }
    });
  }

  void make(const BodyStream::Chunk& chunk) {
    disk_.add(
        [&](std::span<std::byte> memory) {
          const auto made = body_.make(chunk, memory.first<kChecksumChunkBytes>(), strangers_);
          ones_ += FilterView(shape_, made).count_ones();
          return made;
        },
        [this, begin = chunk.begin](std::span<const std::byte> made) {
          filter_.write(SectionKind::bits, begin, made);
          progress_.done_bytes += made.size();
        });
  }

  void make(const StoreChunk& chunk) {
    disk_.add(
        [&](std::span<std::byte> memory) { return store_.make(chunk, memory.first<kChecksumChunkBytes>()); },
        [this, first_page = chunk.first_page](std::span<const std::byte> made) { store_.write(first_page, made); });
  }

  StoreMerge& merge_;
  FilterWriter& filter_;
  StoreWriter& store_;
  FilterShape shape_;
  KnownStrangers* strangers_;
  const std::atomic<bool>& stop_;
  WriteProgress& progress_;
  BodyStream body_;
  std::vector<StoreMerge::Scratch> scratch_;  // for each thread
  std::vector<StoreMerge::Piece> round_;      // the next one
  std::vector<KeyHash> hashes_;               // of this round, behind what is left of those before
  std::size_t left_of_body_ = 0;              // of these, the last ones
  std::size_t left_of_store_ = 0;
  std::uint64_t found_ = 0;
  std::atomic<std::uint64_t> ones_{0};
  WriteBehind disk_;  // the last member: its threads use the others
};

// Gives the number of ones in the array.
std::uint64_t StoreUpdate::write_addresses(FilterWriter& filter, StoreWriter& store, const std::atomic<bool>& stop,
                                           WriteProgress& progress) {
  Pipeline pipeline(merge_, filter, store, shape_, options_.threads, strangers_, stop, progress);
  pipeline.run();
  old_.require_addresses(pipeline.found());
  return pipeline.ones();
}

FilterHeader StoreUpdate::write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress) {
  const std::uint64_t sized_for = options_.expected_entries.value_or(std::max<std::uint64_t>(1, addresses_));
  shape_.block_count = blocks_for(sized_for, options_.bits_per_entry, shape_.block_bytes);
  FilterHeader header = {.shape = shape_, .expected_entries = sized_for, .addresses = addresses_, .domains = domains_};
  FilterWriter writer(path, header);
  StoreWriter store(options_.store_path, old_.header().shape, addresses_, domains_, options_.threads);
  header.bits_set = write_addresses(writer, store, stop, progress);
  SectionStream domains(writer.file(), SectionKind::domains);
  std::vector<KeyHash> all;
  merge_domains([&](std::span<const KeyHash> hashes) {
    check_stop(stop);
    domains.add(hashes);
    store.add_domains(hashes);
    if (strangers_ != nullptr) all.insert(all.end(), hashes.begin(), hashes.end());
  });
  header.domains = domains.finish();
  header.pairs = limited(pairs_, header.addresses, header.domains);
  store.set_pairs(pairs_);
  if (strangers_ != nullptr) {
    strangers_->note_domains(std::move(all));
    write_excluded(writer, header, *strangers_, review_);
  }
  old_.require_unchanged();
  check_stop(stop);
  publish_pair(writer, header, path, store, options_.store_path, options_.threads, options_.kept_generations,
               options_.sign_key.get());
  return header;
}

}  // namespace bloomgate
