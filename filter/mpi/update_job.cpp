#include "filter/mpi/update_job.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/engine/store_update.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/layout/layout.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/hash_lists.hpp"
#include "filter/mpi/output.hpp"

namespace bloomgate::mpi {
namespace {

UsageError only_on_one_machine(const std::string& what) {
  return UsageError(what + " does not go with several ranks; 'bloomgate update-store' takes it");
}

}  // namespace

UpdateJob::UpdateJob(const Ranks& ranks, UpdateRequest request, RankOptions rank_options)
    : ranks_(ranks),
      communicator_(ranks.communicator),
      plan_(std::move(request)),
      rank_options_(rank_options),
      reading_(communicator_, rank_options.local_lists, ranks_.stop) {}

void UpdateJob::open_old_as_first() {
  refuse_to_overwrite_inputs(plan_);
  plan_.choose_shape();
  if (const Layout layout = plan_.options.layout; !SharedArray::suits(layout)) {
    throw only_on_one_machine("the layout " + std::string(layout_rules(layout).name()));
  }
  require_output(plan_, plan_.options);
  lock_.emplace(plan_.store);
  store_ = open_old_store(plan_);
  lack_ = plan_.choose_sender_domains(*store_);
}

// Only rank 0 is sure to see the filter, and publishes the pair. All ranks read the store.
void UpdateJob::open_old() {
  if (is_first()) {
    try {
      open_old_as_first();
    } catch (...) {
      communicator_.fail();  // the other ranks wait for what this rank sends
    }
  }
  tell_options();
  const std::uint64_t identity = communicator_.of_first(store_ ? store_->identity() : 0);
  if (is_first()) return;
  try {
    store_ = open_store(plan_.store, identity, plan_.output);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    throw BloomgateError(ErrorCode::bad_input,
                         "this rank sees another store than rank 0 at " + plan_.store +
                             "; all ranks must see the same store at the same path",
                         {.path = plan_.store});
  }
}

void UpdateJob::tell_options() {
  BuildOptions& options = plan_.options;
  options.seed = communicator_.of_first(options.seed);
  options.layout = static_cast<Layout>(communicator_.of_first(static_cast<std::uint64_t>(options.layout)));
  const std::uint64_t block_bytes = communicator_.of_first(options.block_bytes.value_or(0));
  options.block_bytes.reset();
  if (block_bytes != 0) options.block_bytes = static_cast<std::uint32_t>(block_bytes);
  options.bits_per_entry =
      std::bit_cast<double>(communicator_.of_first(std::bit_cast<std::uint64_t>(options.bits_per_entry)));
  options.hashes = static_cast<std::uint32_t>(communicator_.of_first(options.hashes));
  options.sender_domains = communicator_.of_first(options.sender_domains ? 1 : 0) != 0;
}

// If only one rank refused a request, the others would wait forever.
void UpdateJob::require_lists() const {
  bool has_input = false;
  bool has_store = false;
  for (const std::vector<std::string>* lists : {&plan_.add, &plan_.remove}) {
    for (const std::string& list : *lists) {
      has_input |= list == "-";
      has_store |= is_store(list);
    }
  }
  if (communicator_.any(has_input)) throw only_on_one_machine("standard input");
  if (communicator_.any(has_store)) throw only_on_one_machine("a store among the lists");
}

KindsHeld UpdateJob::read_changes(OpenLists& lists, GatheredEntries& entries, const BroadDomains& broad_domains,
                                  RejectLog& rejects) {
  reading_.take_share(lists);
  HashExchange exchange(
      communicator_, old_->shape(), old_->ranges(), options_.threads, reading_.read_bytes(),
      [&entries](std::span<const KeyHash> hashes) { gather(entries, hashes); },
      &entries == &old_->added() && options_.sender_domains);
  try {
    add_entries(lists.blocks, *lists.format, exchange, options_, {}, broad_domains, rejects);
    exchange.finish();
  } catch (...) {
    communicator_.fail();  // other ranks may wait in a round
  }
  gather_domains(entries, hashes_of_all(communicator_, exchange.domains()));
  const std::vector<KeyHash> of_senders = exchange.take_sender_domains();
  own_sender_domains_.insert(own_sender_domains_.end(), of_senders.begin(), of_senders.end());
  sent_bytes_ += communicator_.sum(exchange.sent_bytes());
  waited_ += exchange.waited().count();
  return kinds_of_all(communicator_, exchange.kinds());
}

void UpdateJob::read_lists() {
  const auto show_of_lists = [this](std::string_view line) { ranks_.observer.warn(reading_.named(line)); };
  RejectLog rejected_of_add("", plan_.add, show_of_lists);
  RejectLog rejected_of_remove("", plan_.remove, show_of_lists);
  OpenLists& add = reading_.open(plan_.add, plan_.format, rejected_of_add);
  OpenLists& remove = reading_.open(plan_.remove, plan_.format, rejected_of_remove);
  std::string seen = "add\n" + reading_.seen(add) + "remove\n" + reading_.seen(remove);
  for (const std::string& list : plan_.strangers) seen += "not " + list + '\n';
  reading_.require_same(seen, choice_names().strangers);
  const BroadDomains broad_domains = usual_broad_domains(plan_.broad_files, ranks_.observer.warns());
  added_kinds_ = read_changes(add, old_->added(), broad_domains, rejected_of_add);
  read_changes(remove, old_->removed(), {}, rejected_of_remove);
  reading_.end();
  rejected_ = communicator_.sum(rejected_of_add.count());
  const std::uint64_t rejected_of_removed = communicator_.sum(rejected_of_remove.count());
  const LinesRead read = {
      .lines = communicator_.sum(rejected_of_add.lines()), .rejected = rejected_, .advice = add.format->advice()};
  if (is_first()) require_lines(plan_, read, rejected_of_removed);
}

OwnPart UpdateJob::merge() {
  const StoreHeader& header = store_->header();
  counts_ = old_->count(ranks_.stop);
  const std::uint64_t addresses = header.addresses + counts_.added - counts_.removed;
  options_.expected_entries = options_.expected_entries.value_or(std::max<std::uint64_t>(1, addresses));
  OwnPart part = begin_part(ranks_, plan_, options_);
  part.addresses = addresses;
  part.kinds = kinds_after(header.kinds, added_kinds_, counts_.added);
  part.own_domains = old_->domains(counts_);
  if (is_first()) require_entries_left(plan_, header, counts_, ranks_.observer);
  part.own_sender_domains = std::move(own_sender_domains_);
  if (options_.sender_domains && is_first()) {
    part.own_sender_domains.reserve(part.own_sender_domains.size() + store_->header().sender_domains);
    store_->for_each_sender_domain([&](std::span<const KeyHash> hashes) {
      part.own_sender_domains.insert(part.own_sender_domains.end(), hashes.begin(), hashes.end());
    });
  }
  ReadBytes nothing_read = {.own = [] { return std::uint64_t{0}; }};
  HashExchange exchange(communicator_, part.shape, *part.array, options_.threads, nothing_read,
                        [&part](std::span<const KeyHash> hashes) { part.bits->take(hashes); });
  std::uint64_t found = 0;
  try {
    found = old_->merge_into(exchange, ranks_.stop);
    exchange.finish();
    part.bits->finish();
  } catch (...) {
    communicator_.fail();  // as above
  }
  found = communicator_.sum(found);
  if (is_first()) store_->require_addresses(found);
  part.sent_bytes = sent_bytes_ + communicator_.sum(exchange.sent_bytes());
  part.waited = waited_ + exchange.waited().count();
  spilled_bytes_ = communicator_.sum(old_->added().spilled_bytes() + old_->removed().spilled_bytes());
  return part;
}

std::optional<MadeByRanks<UpdateResult>> UpdateJob::run() {
  const auto start = std::chrono::steady_clock::now();
  require_lists();
  open_old();
  std::optional<ObservedWork> work;
  work.emplace(ranks_.observer, [this] { return reading_.look(); });
  if (!lack_.empty()) ranks_.observer.warn(lack_);
  options_ = StoreUpdate::options_for(*store_, plan_.options);
  options_.scratch_folder = scratch_folder_of(communicator_, plan_);
  old_.emplace(communicator_, *store_, options_.threads, memory_for_hashes(plan_), options_.scratch_folder);
  read_lists();
  OwnPart part = merge();
  const Written written = write_output(ranks_, rank_options_, plan_, options_, part);
  work.reset();
  if (!is_first()) return std::nullopt;
  return MadeByRanks<UpdateResult>{
      {result_of(plan_, written.header, rejected_, part.strangers->review(), spilled_bytes_, start), counts_},
      notes_of(communicator_, written, part)};
}

}  // namespace bloomgate::mpi
