#include "filter/mpi/build.hpp"

#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <boost/program_options.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "filter/base/error.hpp"
#include "filter/cli/commands/build_arguments.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/lists/add_entries.hpp"
#include "filter/cli/lists/input_files.hpp"
#include "filter/cli/lists/stranger_check.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/mpi/counting_lanes.hpp"
#include "filter/mpi/failure.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/output.hpp"
#include "filter/mpi/own_part.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {
namespace {

using namespace bloomgate::cli;
namespace po = boost::program_options;

constexpr HelpText kHelp = {
    .synopsis = "mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds by the ranks of an MPI job the very file that 'bloomgate build' makes of the same lists, options\n"
        "and seed. Each rank reads a share of the lists, which all of them must see at the same paths, or its\n"
        "own (--local-lists), and makes a range of the filter, and of its store. For the layouts page, line and "
        "ribbon.",
    .examples = "  mpirun -n 4 --host a,b,c,d bloomgate-mpi build --output whitelist.bloom /shared/lists/*.txt\n"};

// What `bloomgate build` has no use for.
struct RankOptions {
  bool local_lists = false;
  bool only_first_writes = false;

  po::options_description described() {
    po::options_description options;
    options.add_options()  //
        ("local-lists", po::bool_switch(&local_lists),
         "each rank reads all of the lists that it is given, which no other rank has")  //
        ("rank-0-writes", po::bool_switch(&only_first_writes),
         "rank 0 writes the parts of all ranks, also where these could write them themselves");
    return options;
  }
};

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
        exceptions_(list_files(command.exceptions), command.options.profile, stop_flag()) {
    options_.seed = communicator_.of_first(options_.seed);
    if (options_.store_seed) options_.store_seed = communicator_.of_first(*options_.store_seed);
  }

  int run();

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void show(std::string_view line) { progress_->show(line); }
  void show_of_lists(std::string_view line);
  Progress::State look() const;
  void open_lists();
  void require_same_lists() const;
  OpenLists& share_of_lists();
  void choose_size();
  void count_addresses();
  std::unique_ptr<StrangerCheck> read_strangers(const SharedArray& array);
  OwnPart read_lists();
  void check_lists(const OwnPart& part);
  void require_outputs();
  FilterShape shape() const;
  std::uint64_t memory_bytes() const;
  std::string scratch_folder() const;

  const Communicator& communicator_;
  const BuildArguments& command_;
  const RankOptions& rank_options_;
  BuildOptions options_;
  ExceptList exceptions_;
  std::list<OpenLists> opened_;  // all of them: the progress may still look at one before the last
  std::optional<Progress> progress_;
  std::atomic<const OpenLists*> read_now_{nullptr};  // null: no list is being read
  std::atomic<bool> counting_{false};
  std::atomic<std::uint64_t> bytes_of_all_{0};  // to be read by all ranks; 0: not known
  ReadBytes read_bytes_;
  std::optional<RejectLog> rejects_;
  std::optional<BroadDomains> broad_domains_;
  std::optional<std::uint64_t> estimate_;
};

FilterShape Job::shape() const {
  FilterShape shape = shape_of(options_);
  shape.block_count = blocks_for(*options_.expected_entries, options_.bits_per_entry, shape.block_bytes);
  return shape;
}

// The same path may be another file for each rank.
void Job::show_of_lists(std::string_view line) {
  if (!rank_options_.local_lists) return show(line);
  show("rank " + std::to_string(communicator_.rank()) + ": " + std::string(line));
}

// What all ranks have read, as far as the last round has told it. Without rounds there is this rank's share alone.
Progress::State Job::look() const {
  const OpenLists* const lists = read_now_;
  if (lists == nullptr) return {.doing = "writing"};
  Progress::State state = lists->state();
  if (counting_) {
    state.doing = "counting";
    return state;
  }
  state.done_bytes += read_bytes_.others;
  state.total_bytes = state.done_bytes <= bytes_of_all_ ? bytes_of_all_.load() : 0;
  return state;
}

void Job::open_lists() {
  OpenLists& lists = opened_.emplace_back(command_.inputs, command_.format);
  rejects_->count_from([&lists](std::size_t input) { return lists.blocks.lines_before_share(input); });
  read_bytes_.own = [&lists] { return lists.blocks.done_bytes(); };
  read_bytes_.others = 0;
  read_now_ = &lists;
}

// Each rank reads a share of what it sees, so a line would be lost where they see different files. Of lists that each
// rank has to itself nothing can be said; but what is left out concerns all entries.
void Job::require_same_lists() const {
  const OpenLists& lists = opened_.back();
  std::string seen = rank_options_.local_lists ? "--local-lists\n" : "";
  for (std::size_t input = 0; !rank_options_.local_lists && input < lists.blocks.input_count(); ++input) {
    seen += lists.blocks.name(input) + '\n' + std::to_string(lists.blocks.file_bytes(input)) + '\n';
  }
  for (const std::string& list : command_.strangers) seen += "--not " + list + '\n';
  for (const std::string& list : command_.exceptions) seen += "--except " + list + '\n';
  const KeyHash hash = hash_key(seen, 0, HashFamily::xxh3);
  if (hash == communicator_.of_first(hash)) return;
  throw BloomgateError(
      ErrorCode::bad_input,
      rank_options_.local_lists
          ? "this rank was given other lists of --not or --except than rank 0, or rank 0 was not given "
            "--local-lists; all ranks must leave out the same"
          : "this rank sees other lists than rank 0, or lists of other sizes; all ranks must see the "
            "same files at the same paths, or be given --local-lists");
}

// For hashes that wait for their bits to be set.
std::uint64_t Job::memory_bytes() const {
  constexpr std::uint64_t kByDefault = std::uint64_t{256} << 20;
  if (command_.memory.empty()) return kByDefault;
  return command_.strangers.empty() ? options_.memory_bytes : options_.memory_bytes / 2;
}

// Only rank 0 is sure to have the filter's folder.
std::string Job::scratch_folder() const {
  constexpr const char* kUsual = "/var/tmp";
  return is_first() || !command_.scratch.empty() ? options_.scratch_folder : kUsual;
}

// Of those that were opened last, and are not read yet.
OpenLists& Job::share_of_lists() {
  OpenLists& lists = opened_.back();
  if (!rank_options_.local_lists) lists.blocks.take_share(communicator_.rank(), communicator_.ranks());
  return lists;
}

// As `bloomgate build` does, so that the same file comes of it: by the option, an estimate, or the number of addresses.
// An estimate is one of all lists, which no rank has where each has its own.
void Job::choose_size() {
  if (!options_.expected_entries && !rank_options_.local_lists) {
    if (is_first()) estimate_ = estimate_of_inputs(opened_.back(), *command_.stores, options_.profile);
    // An estimate of no address is as good as none: the lists are counted.
    const std::uint64_t estimate = communicator_.of_first(estimate_.value_or(0));
    estimate_.reset();
    if (estimate != 0) options_.expected_entries = estimate_ = estimate;
  }
  if (!options_.expected_entries) count_addresses();
}

void Job::count_addresses() {
  OpenLists& lists = share_of_lists();
  counting_ = true;
  CountingLanes counts(options_.threads);
  add_entries(lists.blocks, *lists.format, counts, options_, exceptions_, *broad_domains_, *rejects_);
  options_.expected_entries = std::max<std::uint64_t>(1, communicator_.sum(counts.addresses()));
  rejects_->restart();
  open_lists();
  counting_ = false;
}

// Rank 0 looks through all of them at the end, and speaks for all ranks.
std::unique_ptr<StrangerCheck> Job::read_strangers(const SharedArray& array) {
  const unsigned rank = communicator_.rank();
  const HashRange range = is_first() ? HashRange{} : array.hashes_of(rank);
  const auto& files = array.has_blocks(rank) ? command_.strangers : std::vector<std::string>{};
  BuildOptions options = options_;  // it takes the memory off there
  return std::make_unique<StrangerCheck>(
      files, options, command_.strict, [this](std::string_view line) { show(line); }, range);
}

OwnPart Job::read_lists() {
  OpenLists& lists = share_of_lists();
  bytes_of_all_ = communicator_.sum(lists.blocks.total_bytes());
  OwnPart part;
  part.shape = shape();
  part.array.emplace(part.shape, communicator_.ranks());
  part.strangers = read_strangers(*part.array);
  part.bits = std::make_unique<OwnBits>(part.shape, *part.array, communicator_.rank(), options_.threads, memory_bytes(),
                                        scratch_folder());
  if (KnownStrangers* const strangers = part.strangers->strangers()) part.bits->set_strangers(*strangers);
  if (part.shape.store_seed && part.array->has_blocks(communicator_.rank())) {
    part.store = std::make_unique<OwnStore>(scratch_folder(), options_.threads);
    part.bits->set_store(*part.store);
  }
  HashExchange exchange(communicator_, part.shape, *part.array, options_.threads, read_bytes_,
                        [&part](std::span<const KeyHash> hashes) { part.bits->take(hashes); });
  try {
    add_entries(lists.blocks, *lists.format, exchange, options_, exceptions_, *broad_domains_, *rejects_);
    exchange.finish();
    part.bits->finish();
  } catch (...) {
    communicator_.abort(report_failure(communicator_));  // a round may be under way, which others wait in
  }
  read_now_ = nullptr;
  part.addresses = communicator_.sum(exchange.addresses());
  part.pairs = {communicator_.sum(exchange.pairs().in_bits), communicator_.any(exchange.pairs().with_domains)};
  part.own_domains = exchange.domains();
  part.sent_bytes = communicator_.sum(exchange.sent_bytes());
  part.waited = exchange.waited().count();
  return part;
}

void Job::check_lists(const OwnPart& part) {
  const std::uint64_t entries = part.addresses + communicator_.sum(part.own_domains.size());
  if (const auto refusal = refusal_of_lists(command_, communicator_.sum(rejects_->count()), entries)) {
    rejects_->keep();
    communicator_.sum(0);  // All have kept theirs, before one of them ends the job.
    throw *refusal;
  }
  if (entries == 0 && is_first()) show(kNobodyWarning);
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
  progress_.emplace(
      style, [this] { return look(); }, Progress::interval_of(style));
  const auto show_line = [this](std::string_view line) { show(line); };
  const std::string& reject_file = command_.reject_file;
  rejects_.emplace(reject_file.empty() ? "" : reject_file + '.' + std::to_string(communicator_.rank()), command_.inputs,
                   [this](std::string_view line) { show_of_lists(line); });
  broad_domains_.emplace(usual_broad_domains(command_.free_mail_domains, show_line));
  if (is_first()) require_outputs();
  open_lists();
  require_same_lists();
  choose_size();
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
  const Written written =
      write_output(communicator_, command_, options_, part, rank_options_.only_first_writes, show_line);
  rejects_->keep();
  const BroadCounts broad = {communicator_.sum(rejects_->broad_counts().public_suffixes),
                             communicator_.sum(rejects_->broad_counts().free_mail_domains)};
  const std::uint64_t rejected = communicator_.sum(rejects_->count());
  const std::uint64_t excepted = communicator_.sum(rejects_->excepted());
  progress_->stop();
  if (!is_first()) return EX_OK;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(command_, {command_.output, written.header, rejected, excepted, broad, part.strangers->review(), 0,
                          elapsed.count(), options_.store_path});
  if (!command_.json) {
    std::cout << "written   by " << communicator_.ranks() - written.senders << " of " << communicator_.ranks()
              << " ranks\nexchanged " << format_bytes(part.sent_bytes) << " between " << communicator_.ranks()
              << " ranks; rank 0 waited for it " << static_cast<int>(100 * part.waited / elapsed.count() + 0.5)
              << " % of the time\n";
  }
  return EX_OK;
}

}  // namespace

int run_build(Communicator& communicator, const Arguments& arguments) {
  // Rank 0 speaks for all about the command line, which is the same for all.
  std::optional<BuildArguments> command;
  if (communicator.rank() != 0) std::cout.setstate(std::ios::failbit);
  RankOptions rank_options;
  command = parse_build_arguments(arguments, kHelp, rank_options.described());
  std::cout.clear();
  if (!command) return EX_OK;
  require_supported(*command);
  communicator.stop_at(stop_flag());
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  return Job(communicator, *command, rank_options).run();
}

}  // namespace bloomgate::mpi
