#include "filter/mpi/build_job.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/layout/layout.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/output.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {
namespace {

// Counts the addresses of lists if their number, for which the filter is sized, is not known before they are read. Its
// interface is that of FilterBuilder, and it keeps no entries.
class CountingLanes {
 public:
  struct alignas(64) Lane {
    void add(const Entry& entry) noexcept { addresses += goes_into_bits(entry.kind()) ? 1U : 0U; }
    void add_pair(std::string_view /*key*/, std::string_view /*domain*/) noexcept { ++addresses; }
    void add_address(std::string_view /*key*/, std::string_view /*domain*/) noexcept { ++addresses; }
    void settle() const noexcept {}

    std::uint64_t addresses = 0;
  };

  explicit CountingLanes(unsigned threads) : lanes_(threads) {}

  Lane& lane(unsigned index) noexcept { return lanes_[index]; }
  bool has_room_for(std::uint64_t /*entries*/) const noexcept { return true; }
  void flush() const noexcept {}

  std::uint64_t addresses() const noexcept {
    std::uint64_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.addresses;
    return sum;
  }

 private:
  std::vector<Lane> lanes_;
};

}  // namespace

void require_supported(const BuildPlan& plan) {
  const auto refuse = [](const std::string& what) {
    throw UsageError(what + " does not go with several ranks; 'bloomgate build' takes it");
  };
  if (!plan.stores->empty()) refuse("a store among the inputs");
  if (const Layout layout = plan.options.layout; !SharedArray::suits(layout)) {
    refuse(choice_names().layout + " " + std::string(layout_rules(layout).name()));
  }
  for (const std::string& input : plan.inputs) {
    if (input == "-") refuse("standard input");
  }
}

BuildJob::BuildJob(const Ranks& ranks, const BuildPlan& plan, RankOptions rank_options)
    : ranks_(ranks),
      communicator_(ranks.communicator),
      plan_(plan),
      rank_options_(rank_options),
      options_(plan.options),
      exceptions_(list_files(plan.exceptions), plan.options.profile, ranks_.stop),
      reading_(communicator_, rank_options.local_lists, ranks_.stop) {
  options_.seed = communicator_.of_first(options_.seed);
  if (options_.store_seed) options_.store_seed = communicator_.of_first(*options_.store_seed);
  options_.scratch_folder = scratch_folder_of(communicator_, plan_);
}

void BuildJob::open_lists() {
  lists_ = &reading_.open(plan_.inputs, plan_.format, *rejects_);
}

void BuildJob::require_same_lists() const {
  std::string seen = reading_.seen(*lists_);
  for (const std::string& list : plan_.strangers) seen += "not " + list + '\n';
  for (const std::string& list : plan_.exceptions) seen += "except " + list + '\n';
  reading_.require_same(seen, choice_names().strangers + " or " + choice_names().exceptions);
}

// Follows `bloomgate build`, so that the result is the same file: uses the option, an estimate, or the number of
// addresses. An estimate needs all lists, which no rank has if each rank has its own.
void BuildJob::choose_size() {
  if (!options_.expected_entries && !rank_options_.local_lists) {
    if (is_first()) estimate_ = estimate_of_inputs(*lists_, *plan_.stores, options_.profile);
    // An estimate of 0 addresses is useless: the lists are counted.
    const std::uint64_t estimate = communicator_.of_first(estimate_.value_or(0));
    estimate_.reset();
    if (estimate != 0) options_.expected_entries = estimate_ = estimate;
  }
  if (!options_.expected_entries) count_addresses();
}

void BuildJob::count_addresses() {
  reading_.take_share(*lists_);
  reading_.set_counting(true);
  CountingLanes counts(options_.threads);
  add_entries(lists_->blocks, *lists_->format, counts, options_, exceptions_, *broad_domains_, *rejects_);
  options_.expected_entries = std::max<std::uint64_t>(1, communicator_.sum(counts.addresses()));
  rejects_->restart();
  open_lists();
  reading_.set_counting(false);
}

OwnPart BuildJob::read_lists() {
  reading_.take_share(*lists_);
  OwnPart part = begin_part(ranks_, plan_, options_);
  HashExchange exchange(
      communicator_, part.shape, *part.array, options_.threads, reading_.read_bytes(),
      [&part](std::span<const KeyHash> hashes) { part.bits->take(hashes); }, options_.sender_domains);
  try {
    add_entries(lists_->blocks, *lists_->format, exchange, options_, exceptions_, *broad_domains_, *rejects_);
    exchange.finish();
    part.bits->finish();
  } catch (...) {
    communicator_.fail();  // other ranks may wait in a round
  }
  reading_.end();
  part.addresses = communicator_.sum(exchange.addresses());
  part.kinds = kinds_of_all(communicator_, exchange.kinds());
  part.own_domains = exchange.domains();
  part.own_sender_domains = exchange.take_sender_domains();
  part.sent_bytes = communicator_.sum(exchange.sent_bytes());
  part.waited = exchange.waited().count();
  return part;
}

void BuildJob::check_lists(const OwnPart& part) {
  if (is_first()) rejects_->show_kinds();
  const LinesRead read = {.lines = communicator_.sum(rejects_->lines()),
                          .rejected = communicator_.sum(rejects_->count()),
                          .advice = lists_->format->advice()};
  const std::uint64_t entries = part.addresses + communicator_.sum(part.own_domains.size());
  // The first rank decides for all: the old filter may be there only.
  const auto refusal = refusal_of_lists(plan_, read, entries);
  if (communicator_.of_first(refusal ? 1 : 0) == 0) {
    const std::string warning = is_first() ? plan_.limits.warning_of_daemon(entries, plan_.replaced()) : std::string();
    if (!warning.empty()) ranks_.observer.warn(warning);
    return;
  }
  rejects_->keep();
  communicator_.sum(0);  // all have kept theirs before one of them ends the job
  throw refusal.value_or(BloomgateError(ErrorCode::bad_input, "the first rank refuses the lists"));
}

// No other rank checks these, so no other rank would end by itself.
void BuildJob::require_outputs() {
  try {
    refuse_to_overwrite_inputs(plan_);
    require_output(plan_, options_, expected_bytes(options_));
  } catch (...) {
    communicator_.fail();
  }
}

std::optional<MadeByRanks<BuildResult>> BuildJob::run() {
  const auto start = std::chrono::steady_clock::now();
  std::optional<ObservedWork> work;
  work.emplace(ranks_.observer, [this] { return reading_.look(); });
  const auto show_line = ranks_.observer.warns();
  const std::string& reject_file = plan_.reject_file;
  rejects_.emplace(reject_file.empty() ? "" : reject_file + '.' + std::to_string(communicator_.rank()), plan_.inputs,
                   [this](std::string_view line) { ranks_.observer.warn(reading_.named(line)); });
  broad_domains_.emplace(usual_broad_domains(plan_.broad_files, show_line));
  if (is_first()) require_outputs();
  open_lists();
  require_same_lists();
  choose_size();
  if (const std::string cost = cost_of_sender_domains(options_); is_first() && !cost.empty()) {
    ranks_.observer.note(cost);
  }
  OwnPart part = read_lists();
  if (estimate_ && is_estimate_off(*estimate_, part.addresses)) {
    // The samples were not like the rest. Now the number is known, but only a second run can size the filter as
    // requested.
    options_.expected_entries = part.addresses;
    part = {};
    rejects_->restart();
    open_lists();
    part = read_lists();
  }
  check_lists(part);
  std::optional<ChangeLock> lock;
  if (is_first()) lock = ChangeLock::if_there(options_.store_path);
  const std::string lone_store =
      is_first() && options_.store_path.empty() ? warning_of_lone_store(plan_.output) : std::string();
  const Written written = write_output(ranks_, rank_options_, plan_, options_, part, [this](const FilterHeader& made) {
    plan_.limits.require(made, plan_.replaced());
  });
  rejects_->keep();
  if (!lone_store.empty()) ranks_.observer.warn(lone_store);
  BroadCounts broad = rejects_->broad_counts();
  for (std::uint64_t& count : broad.counts) count = communicator_.sum(count);
  const std::uint64_t rejected = communicator_.sum(rejects_->count());
  const std::uint64_t excepted = communicator_.sum(rejects_->excepted());
  work.reset();
  if (!is_first()) return std::nullopt;
  return MadeByRanks<BuildResult>{
      {result_of(plan_, written.header, rejected, part.strangers->review(), 0, start), excepted, broad},
      notes_of(communicator_, written, part)};
}

}  // namespace bloomgate::mpi
