#include "filter/engine/store_update.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "filter/base/stop_check.hpp"
#include "filter/engine/excluded_section.hpp"
#include "filter/engine/publish_pair.hpp"
#include "filter/engine/sorted_build.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/store/store_writer.hpp"

namespace bloomgate {
BuildOptions StoreUpdate::options_for(const StoreFile& old, BuildOptions options) {
  const StoreShape& shape = old.header().shape;
  options.hash_family = shape.hash_family;
  options.profile = shape.profile;
  options.store_seed = shape.seed;
  return options;
}

StoreUpdate::StoreUpdate(const StoreFile& old, const BuildOptions& options, std::uint64_t pages_of_piece)
    : old_(old),
      options_(options_for(old, options)),
      shape_(shape_of(options_)),
      added_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder,
             options.sender_domains),
      removed_(old.header().shape, options.threads, options.memory_bytes / 2, options.scratch_folder),
      merge_(old, added_.addresses(), removed_.addresses(), options.threads, pages_of_piece) {
  if (options.sender_domains) require_sender_domains(old);
}

UpdateCounts StoreUpdate::merge_domains(const std::function<void(std::span<const KeyHash>)>& use) const {
  return bloomgate::merge_domains(old_, added_.domains(), removed_.domains(), use);
}

void StoreUpdate::set_strangers(KnownStrangers& strangers, std::function<void()> review) {
  strangers_ = &strangers;
  review_ = std::move(review);
}

UpdateCounts StoreUpdate::count(const std::atomic<bool>& stop) {
  UpdateCounts counts = merge_.count(stop);
  addresses_ = old_.header().addresses + counts.added - counts.removed;
  kinds_ = kinds_after(old_.header().kinds, added_.kinds(), counts.added);
  const UpdateCounts of_domains = merge_domains([](std::span<const KeyHash>) {});
  domains_ = old_.header().domains + of_domains.added - of_domains.removed;
  counts += of_domains;
  return counts;
}

// Returns the number of ones in the array.
std::uint64_t StoreUpdate::write_addresses(FilterWriter& filter, StoreWriter& store, const std::atomic<bool>& stop,
                                           WriteProgress& progress) {
  SortedBuild build(filter, store, shape_, options_.threads, strangers_, stop, progress);
  std::vector<StoreMerge::Scratch> scratch(options_.threads);
  std::atomic<std::uint64_t> found{0};  // addresses of the old store that were read
  build.run([&]() -> SortedBuild::MakePiece {
    const std::optional<StoreMerge::Piece> next = merge_.next_piece();
    if (!next) return {};
    return [&, piece = *next](unsigned thread, std::vector<KeyHash>& out) {
      const UpdateCounts counts = merge_.merge(piece, scratch[thread], out);
      found += out.size() + counts.removed - counts.added;
    };
  });
  old_.require_addresses(found);
  return build.ones();
}

FilterHeader StoreUpdate::write(const std::string& path, const std::atomic<bool>& stop, WriteProgress& progress) {
  const std::uint64_t sized_for = options_.expected_entries.value_or(std::max<std::uint64_t>(1, addresses_));
  shape_.block_count = blocks_for(sized_for, options_.bits_per_entry, shape_.block_bytes);
  FilterHeader header = {.shape = shape_, .expected_entries = sized_for, .addresses = addresses_, .domains = domains_};
  GatheredDomains* const sender_domains = added_.sender_domains();
  GatheredDomains::Counts of_senders;
  if (sender_domains != nullptr) {
    old_.for_each_sender_domain([&](std::span<const KeyHash> hashes) { added_.add_stored_sender_domains(hashes); });
    of_senders = sender_domains->unite(options_.threads);
    header.sender_domains = of_senders.numbers;
  }
  FilterWriter writer(path, header);
  StoreWriter store(options_.store_path, old_.header().shape, addresses_, domains_, options_.threads,
                    of_senders.hashes);
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
  header.kinds = limited(kinds_, header.addresses, header.domains);
  store.set_kinds(kinds_);
  if (strangers_ != nullptr) {
    strangers_->note_domains(std::move(all));
    write_excluded(writer, header, *strangers_, review_);
  }
  if (sender_domains != nullptr) write_sender_domains(writer, header, &store, *sender_domains, options_.threads, stop);
  old_.require_unchanged();
  check_stop(stop);
  publish_pair(writer, header, path, store, options_.store_path, options_.threads, options_.kept_generations,
               options_.sign_key.get());
  return header;
}

}  // namespace bloomgate
