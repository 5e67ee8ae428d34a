#include "filter/mpi/build.hpp"

#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "filter/base/error.hpp"
#include "filter/cli/commands/build_arguments.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/jobs/add_entries.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/mpi/counting_lanes.hpp"
#include "filter/mpi/failure.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/list_reading.hpp"
#include "filter/mpi/output.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/rank_options.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {
namespace {

using namespace bloomgate::cli;

constexpr HelpText kBuildHelp = {
    .synopsis = "mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds by the ranks of an MPI job the very file that 'bloomgate build' makes of the same lists, options\n"
        "and seed. Each rank reads a share of the lists, which all of them must see at the same paths, or its\n"
        "own (--local-lists), and makes a range of the filter, and of its store. For the layouts page, line and "
        "ribbon.",
    .examples = "  mpirun -n 4 --host a,b,c,d bloomgate-mpi build --output whitelist.bloom /shared/lists/*.txt\n"};

// What `bloomgate build` can and this cannot.
void require_supported(const BuildArguments& command) {
  const auto refuse = [](const std::string& what) {
    throw UsageError(what + " does not go with several ranks; 'bloomgate build' takes it");
  };
  if (!command.stores->empty()) refuse("a store among the inputs");
  if (!SharedArray::suits(command.options.layout)) refuse("--layout " + command.shape.layout);
  for (const std::string& input : command.inputs) {
    if (input == "-") refuse("standard input");
  }
}

class Job {
 public:
  Job(const Communicator& communicator, const BuildArguments& command, const RankOptions& rank_options)
      : communicator_(communicator),
        command_(command),
        rank_options_(rank_options),
        options_(command.options),
        exceptions_(list_files(command.exceptions), command.options.profile, stop_flag()),
        reading_(communicator, rank_options.local_lists) {
    options_.seed = communicator_.of_first(options_.seed);
    if (options_.store_seed) options_.store_seed = communicator_.of_first(*options_.store_seed);
  }

  int run();

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void show(std::string_view line) { progress_->show(line); }
  void open_lists();
  void require_same_lists() const;
  void choose_size();
  void count_addresses();
  OwnPart read_lists();
  void check_lists(const OwnPart& part);
  void require_outputs();
  std::uint64_t memory_bytes() const;

  const Communicator& communicator_;
  const BuildArguments& command_;
  const RankOptions& rank_options_;
  BuildOptions options_;
  ExceptList exceptions_;
  ListReading reading_;
  OpenLists* lists_ = nullptr;  // that were opened last
  std::optional<Progress> progress_;
  std::optional<RejectLog> rejects_;
  std::optional<BroadDomains> broad_domains_;
  std::optional<std::uint64_t> estimate_;
};

void Job::open_lists() {
  lists_ = &reading_.open(command_.inputs, command_.format, *rejects_);
}

void Job::require_same_lists() const {
  std::string seen = reading_.seen(*lists_);
  for (const std::string& list : command_.strangers) seen += "--not " + list + '\n';
  for (const std::string& list : command_.exceptions) seen += "--except " + list + '\n';
  reading_.require_same(seen, "--not or --except");
}

// For hashes that wait for their bits to be set.
std::uint64_t Job::memory_bytes() const {
  constexpr std::uint64_t kByDefault = std::uint64_t{256} << 20;
  if (command_.memory.empty()) return kByDefault;
  return command_.strangers.empty() ? options_.memory_bytes : options_.memory_bytes / 2;
}

// As `bloomgate build` does, so that the same file comes of it: by the option, an estimate, or the number of addresses.
// An estimate is one of all lists, which no rank has where each has its own.
void Job::choose_size() {
  if (!options_.expected_entries && !rank_options_.local_lists) {
    if (is_first()) estimate_ = estimate_of_inputs(*lists_, *command_.stores, options_.profile);
    // An estimate of no address is as good as none: the lists are counted.
    const std::uint64_t estimate = communicator_.of_first(estimate_.value_or(0));
    estimate_.reset();
    if (estimate != 0) options_.expected_entries = estimate_ = estimate;
  }
  if (!options_.expected_entries) count_addresses();
}

void Job::count_addresses() {
  reading_.take_share(*lists_);
  reading_.set_counting(true);
  CountingLanes counts(options_.threads);
  add_entries(lists_->blocks, *lists_->format, counts, options_, exceptions_, *broad_domains_, *rejects_);
  options_.expected_entries = std::max<std::uint64_t>(1, communicator_.sum(counts.addresses()));
  rejects_->restart();
  open_lists();
  reading_.set_counting(false);
}

OwnPart Job::read_lists() {
  reading_.take_share(*lists_);
  OwnPart part = begin_part(communicator_, options_,
                            {.strangers = command_.strangers,
                             .is_strict = command_.strict,
                             .memory_bytes = memory_bytes(),
                             .scratch_folder = scratch_folder_of(communicator_, options_, !command_.scratch.empty()),
                             .show = [this](std::string_view line) { show(line); }});
  HashExchange exchange(
      communicator_, part.shape, *part.array, options_.threads, reading_.read_bytes(),
      [&part](std::span<const KeyHash> hashes) { part.bits->take(hashes); }, options_.sender_domains);
  try {
    add_entries(lists_->blocks, *lists_->format, exchange, options_, exceptions_, *broad_domains_, *rejects_);
    exchange.finish();
    part.bits->finish();
  } catch (...) {
    communicator_.abort(report_failure(communicator_));  // a round may be under way, which others wait in
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

void Job::check_lists(const OwnPart& part) {
  if (is_first()) rejects_->show_kinds();
  const LinesRead read = {.lines = communicator_.sum(rejects_->lines()),
                          .rejected = communicator_.sum(rejects_->count()),
                          .advice = lists_->format->advice()};
  const std::uint64_t entries = part.addresses + communicator_.sum(part.own_domains.size());
  // The first rank decides for all: only there the old filter may be.
  const auto refusal = refusal_of_lists(command_, read, entries);
  if (communicator_.of_first(refusal ? 1 : 0) == 0) return;
  rejects_->keep();
  communicator_.sum(0);  // All have kept theirs, before one of them ends the job.
  throw refusal.value_or(BloomgateError(ErrorCode::bad_input, "the first rank refuses the lists"));
}

// No other rank looks at these, so none would end by itself.
void Job::require_outputs() {
  try {
    refuse_to_overwrite_inputs(command_);
    require_output(command_, options_);
  } catch (...) {
    communicator_.abort(report_failure(communicator_));
  }
}

int Job::run() {
  const auto start = std::chrono::steady_clock::now();
  const Progress::Style style =
      command_.quiet || !is_first() ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  progress_.emplace(style, [this] { return reading_.look(); }, Progress::interval_of(style));
  const auto show_line = [this](std::string_view line) { show(line); };
  const std::string& reject_file = command_.reject_file;
  rejects_.emplace(reject_file.empty() ? "" : reject_file + '.' + std::to_string(communicator_.rank()), command_.inputs,
                   [this](std::string_view line) { show(reading_.named(line)); });
  broad_domains_.emplace(usual_broad_domains(command_.broad_files, show_line));
  if (is_first()) require_outputs();
  open_lists();
  require_same_lists();
  choose_size();
  if (const std::string cost = cost_of_sender_domains(command_, options_); is_first() && !cost.empty()) show(cost);
  OwnPart part = read_lists();
  if (estimate_ && is_estimate_off(*estimate_, part.addresses)) {
    // The samples were not like the rest. Now the number is known, and only a second run can size the filter as asked.
    options_.expected_entries = part.addresses;
    part = {};
    rejects_->restart();
    open_lists();
    part = read_lists();
  }
  check_lists(part);
  std::optional<ChangeLock> lock;
  if (is_first()) lock = ChangeLock::if_there(options_.store_path);
  const Written written = write_output(communicator_, {command_.output, command_.keep}, options_, part,
                                       rank_options_.only_first_writes, show_line);
  rejects_->keep();
  const BroadCounts& own = rejects_->broad_counts();
  const BroadCounts broad = {communicator_.sum(own.public_suffixes), communicator_.sum(own.free_mail_domains),
                             communicator_.sum(own.lists_without_signer), communicator_.sum(own.shared_signers),
                             communicator_.sum(own.dotless_domains)};
  const std::uint64_t rejected = communicator_.sum(rejects_->count());
  const std::uint64_t excepted = communicator_.sum(rejects_->excepted());
  progress_->stop();
  if (!is_first()) return EX_OK;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(command_, {command_.output, written.header, rejected, excepted, broad, part.strangers->review(), 0,
                          elapsed.count(), options_.store_path});
  if (!command_.json) std::cout << ranks_text(communicator_, written, part, elapsed.count());
  return EX_OK;
}

}  // namespace

int run_build(Communicator& communicator, const Arguments& arguments) {
  // Rank 0 speaks for all about the command line, which is the same for all.
  std::optional<BuildArguments> command;
  if (communicator.rank() != 0) std::cout.setstate(std::ios::failbit);
  RankOptions rank_options;
  command = parse_build_arguments(arguments, kBuildHelp, rank_options.described());
  std::cout.clear();
  if (!command) return EX_OK;
  require_supported(*command);
  communicator.stop_at(stop_flag());
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  return Job(communicator, *command, rank_options).run();
}

}  // namespace bloomgate::mpi
