#include "filter/mpi/output.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/engine/excluded_section.hpp"
#include "filter/engine/known_strangers.hpp"
#include "filter/engine/publish_pair.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/keep/generations.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/mpi/hash_lists.hpp"
#include "filter/mpi/shared_section.hpp"
#include "filter/store/store_page.hpp"
#include "filter/store/store_writer.hpp"

namespace bloomgate::mpi {
namespace {

constexpr std::uint64_t kPagesInChunk = kChecksumChunkBytes / kStorePageBytes;

// Shows whether ranks have read the same excluded senders.
using StrangersSeen = std::array<std::uint64_t, 2>;

StrangersSeen seen_of(std::span<const KeyHash> values) {
  const auto bytes = std::as_bytes(values);
  return {values.size(), hash_key({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0)};
}

ForEachDomain each_number_of(const std::vector<KeyHash>& ascending) {
  return [&ascending](const std::function<void(std::span<const DomainNumber>)>& use) {
    for (const KeyHash hash : ascending) {
      const DomainNumber number = domain_number(hash);
      use({&number, 1});
    }
  };
}

class Output {
 public:
  Output(const Communicator& communicator, const RankOptions& rank_options, const FilterRequest& request,
         const BuildOptions& options, OwnPart& part)
      : communicator_(communicator),
        only_first_writes_(rank_options.only_first_writes),
        request_(request),
        options_(options),
        part_(part) {}

  Written write(const std::function<void(std::string_view)>& show,
                const std::function<void(const FilterHeader&)>& approve);

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void open(std::uint64_t domains, std::uint64_t sender_domains);
  void share(SharedSection& section, const std::function<void()>& write_own);
  void write_bits();
  void write_pages();
  void take_index();
  void write_domains(const std::vector<KeyHash>& domains);
  void write_senders(const std::vector<KeyHash>& sender_domains);
  void send_notes() const;
  void receive_notes() const;
  void put_in_place(unsigned kept);

  const Communicator& communicator_;
  bool only_first_writes_;
  const FilterRequest& request_;
  const BuildOptions& options_;
  OwnPart& part_;
  FilterHeader header_;
  unsigned senders_ = 0;
  std::optional<FilterWriter> filter_;  // at rank 0, like the store
  std::optional<StoreWriter> store_;
};

// Creates both files before anything is written, so that a full disk shows now.
void Output::open(std::uint64_t domains, std::uint64_t sender_domains) {
  filter_.emplace(request_.output, header_);
  if (!part_.shape.store_seed) return;
  const StoreShape shape = {
      .hash_family = part_.shape.hash_family, .seed = *part_.shape.store_seed, .profile = part_.shape.profile};
  store_.emplace(options_.store_path, shape, part_.addresses, domains, options_.threads, sender_domains);
}

void Output::share(SharedSection& section, const std::function<void()>& write_own) {
  try {
    write_own();
    section.finish(options_.threads);
  } catch (...) {
    if (is_first()) throw;
    section.fail(communicator_.report_failure());
  }
  senders_ = std::max(senders_, section.senders());
}

void Output::write_bits() {
  const std::span<const std::byte> own = part_.bits->bytes();
  const BlockRange blocks = part_.array->blocks_of(communicator_.rank());
  const ChunkRange chunks = {blocks.first * part_.shape.block_bytes / kChecksumChunkBytes,
                             Section{.bytes = own.size()}.chunk_count()};
  SharedSection section(communicator_, filter_ ? &filter_->file() : nullptr, SectionKind::bits, kHeaderBytes, chunks,
                        only_first_writes_);
  share(section, [&] {
    for_each_parallel(options_.threads, chunks.count, [&](std::size_t i) {
      const std::uint64_t begin = i * kChecksumChunkBytes;
      section.write(chunks.first + i, own.subspan(begin, std::min(kChecksumChunkBytes, own.size() - begin)));
    });
  });
}

void Output::write_pages() {
  const unsigned rank = communicator_.rank();
  const SharedArray& array = *part_.array;
  ChunkRange chunks;
  if (part_.store) {
    CutRest before;
    if (rank != 0) {
      before.left = receive_hashes(communicator_, rank - 1);
      before.first_page = before.left.back();
      before.left.pop_back();
    }
    const bool is_last = rank + 1 == communicator_.ranks() || !array.has_blocks(rank + 1);
    CutRest rest = part_.store->cut(std::move(before), low_bits_for(part_.addresses), is_last);
    chunks.first = part_.store->first_page() / kPagesInChunk;
    chunks.count = (part_.store->index().size() + kPagesInChunk - 1) / kPagesInChunk;
    if (!is_last) {
      rest.left.push_back(rest.first_page);
      send_hashes(communicator_, rank + 1, rest.left);
    }
  }
  SharedSection section(communicator_, store_ ? &store_->file() : nullptr, SectionKind::pages, kHeaderBytes, chunks,
                        only_first_writes_);
  share(section, [&] {
    if (!part_.store) return;
    part_.store->make([&](std::uint64_t first_page, std::span<const std::byte> made) {
      section.write(first_page / kPagesInChunk, made);
    });
  });
  take_index();
}

void Output::take_index() {
  if (!is_first()) {
    if (!part_.store) return;
    send_hashes(communicator_, 0, part_.store->index());
    send_hashes(communicator_, 0, std::array{part_.store->hashes()});
    return;
  }
  store_->add_made(part_.store->index(), part_.store->hashes());
  for (unsigned rank = 1; rank < communicator_.ranks() && part_.array->has_blocks(rank); ++rank) {
    const std::vector<KeyHash> index = receive_hashes(communicator_, rank);
    store_->add_made(index, receive_hashes(communicator_, rank).front());
  }
}

void Output::write_domains(const std::vector<KeyHash>& domains) {
  if (store_) store_->add_domains(domains);
  if (domains.empty()) return;
  SectionStream section(filter_->file(), SectionKind::domains);
  section.add(domains);
  section.finish();
}

void Output::write_senders(const std::vector<KeyHash>& sender_domains) {
  if (!options_.sender_domains) return;
  write_sender_domains(*filter_, header_, each_number_of(sender_domains));
  if (store_) store_->add_sender_domains(sender_domains);
}

void Output::send_notes() const {
  KnownStrangers* const strangers = part_.strangers->strangers();
  if (strangers == nullptr) return;
  const StrangersSeen seen = seen_of(strangers->values_in({}));
  communicator_.send(0, std::as_bytes(std::span(seen)));
  communicator_.send(0, std::as_bytes(strangers->notes_of({})));
}

void Output::receive_notes() const {
  KnownStrangers& strangers = *part_.strangers->strangers();
  for (unsigned rank = 1; rank < communicator_.ranks() && part_.array->has_blocks(rank); ++rank) {
    const HashRange range = part_.array->hashes_of(rank);
    StrangersSeen seen = {};
    communicator_.receive(rank, std::as_writable_bytes(std::span(seen)));
    if (seen != seen_of(strangers.values_in(range))) {
      throw BloomgateError(ErrorCode::bad_input,
                           "rank " + std::to_string(rank) + " has read other lists of " + choice_names().strangers +
                               " than this rank; all ranks must see the same files at the same paths");
    }
    communicator_.receive(rank, std::as_writable_bytes(strangers.notes_of(range)));
  }
}

void Output::put_in_place(unsigned kept) {
  const SecretKey* const key = options_.sign_key.get();
  if (!store_) return filter_->commit(header_, options_.threads, keeping(kept), key);
  store_->set_kinds(part_.kinds);
  publish_pair(*filter_, header_, request_.output, *store_, options_.store_path, options_.threads, kept, key);
}

Written Output::write(const std::function<void(std::string_view)>& show,
                      const std::function<void(const FilterHeader&)>& approve) {
  const std::vector<KeyHash> domains = hashes_of_all(communicator_, part_.own_domains);
  const std::vector<KeyHash> sender_domains = options_.sender_domains
                                                  ? hashes_of_all(communicator_, std::move(part_.own_sender_domains))
                                                  : std::vector<KeyHash>{};
  header_ = {.shape = part_.shape,
             .expected_entries = *options_.expected_entries,
             .addresses = part_.addresses,
             .domains = domains.size()};
  if (options_.sender_domains) header_.sender_domains = count_sender_domains(each_number_of(sender_domains));
  header_.bits_set = communicator_.sum(FilterView(part_.shape, part_.bits->bytes()).count_ones());
  header_.kinds = limited(part_.kinds, header_.addresses, header_.domains);
  unsigned kept = 0;
  if (is_first()) {
    kept = generations_to_keep(request_, options_, show);
    open(domains.size(), sender_domains.size());
  }
  write_bits();
  if (part_.shape.store_seed) write_pages();
  if (!is_first()) {
    send_notes();
    return {header_};
  }
  write_domains(domains);
  if (KnownStrangers* const strangers = part_.strangers->strangers()) {
    receive_notes();
    strangers->note_domains(domains);
    write_excluded(*filter_, header_, *strangers, [this] { part_.strangers->look_at_entries(); });
  }
  write_senders(sender_domains);
  if (approve) approve(header_);
  put_in_place(kept);
  return {header_, senders_};
}

}  // namespace

Written write_output(const Ranks& ranks, const RankOptions& rank_options, const FilterRequest& request,
                     const BuildOptions& options, OwnPart& part,
                     const std::function<void(const FilterHeader&)>& approve) {
  return Output(ranks.communicator, rank_options, request, options, part).write(ranks.observer.warns(), approve);
}

RankNotes notes_of(const Communicator& communicator, const Written& written, const OwnPart& part) {
  return {.ranks = communicator.ranks(),
          .writers = communicator.ranks() - written.senders,
          .sent_bytes = part.sent_bytes,
          .waited = part.waited};
}

}  // namespace bloomgate::mpi
