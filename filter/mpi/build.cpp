#include "filter/mpi/build.hpp"

#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/build/excluded_section.hpp"
#include "filter/build/filter_part.hpp"
#include "filter/build/known_strangers.hpp"
#include "filter/cli/commands/build_arguments.hpp"
#include "filter/cli/commands/build_report.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/failure.hpp"
#include "filter/cli/lists/add_entries.hpp"
#include "filter/cli/lists/input_files.hpp"
#include "filter/cli/lists/progress_states.hpp"
#include "filter/cli/lists/stranger_check.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/mpi/counting_lanes.hpp"
#include "filter/mpi/hash_exchange.hpp"
#include "filter/mpi/own_bits.hpp"
#include "filter/mpi/shared_array.hpp"

namespace bloomgate::mpi {
namespace {

using namespace bloomgate::cli;

constexpr HelpText kHelp = {
    .synopsis = "mpirun [-n RANKS] bloomgate-mpi build --output FILE [OPTION...] INPUT...",
    .purpose =
        "Builds by the ranks of an MPI job the very file that 'bloomgate build' makes of the same lists, options\n"
        "and seed. Each rank reads a share of the lists, which all of them must see at the same paths, and makes a\n"
        "range of the bits; rank 0 writes the filter. For the layouts page, line and ribbon, without stores.",
    .examples = "  mpirun -n 4 --host a,b,c,d bloomgate-mpi build --output whitelist.bloom /shared/lists/*.txt\n"};

// What `bloomgate build` can and this cannot.
void require_supported(const BuildArguments& command) {
  const auto refuse = [](const std::string& what) {
    throw UsageError(what + " does not go with several ranks; 'bloomgate build' takes it");
  };
  if (!command.stores->empty()) refuse("a store among the inputs");
  if (!command.options.store_path.empty()) refuse("--store");
  if (!SharedArray::suits(command.options.layout)) refuse("--layout " + command.shape.layout);
  for (const std::string& input : command.inputs) {
    if (input == "-") refuse("standard input");
  }
}

// What a rank has of the filter, once all lists are read.
struct OwnPart {
  FilterShape shape = {};
  std::optional<SharedArray> array;
  std::unique_ptr<StrangerCheck> strangers;  // rank 0 has all of them, another one those of its bits
  std::unique_ptr<OwnBits> bits;
  std::uint64_t addresses = 0;  // of all ranks, like the rest
  PairsHeld pairs = {};
  std::vector<KeyHash> own_domains;
  std::uint64_t sent_bytes = 0;
  double waited = 0;  // of this rank, in s
};

// By which ranks see that they have read the same strangers.
using StrangersSeen = std::array<std::uint64_t, 2>;

StrangersSeen seen_of(std::span<const KeyHash> values) {
  const auto bytes = std::as_bytes(values);
  return {values.size(), hash_key({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0)};
}

class Job {
 public:
  Job(const Communicator& communicator, const BuildArguments& command)
      : communicator_(communicator),
        command_(command),
        options_(command.options),
        exceptions_(list_files(command.exceptions), command.options.profile, stop_flag()) {
    options_.seed = communicator_.of_first(options_.seed);
  }

  int run();

 private:
  bool is_first() const noexcept { return communicator_.rank() == 0; }
  void show(std::string_view line) { progress_->show(line); }
  void open_lists();
  void require_same_lists() const;
  OpenLists& share_of_lists();
  void choose_size();
  void count_addresses();
  std::unique_ptr<StrangerCheck> read_strangers(const SharedArray& array);
  OwnPart read_lists();
  void check_lists(const OwnPart& part);
  FilterHeader write(const OwnPart& part);
  void write_bits(FilterWriter& writer, const OwnPart& part);
  void send_bits(const OwnPart& part) const;
  void send_notes(const OwnPart& part) const;
  void receive_notes(const OwnPart& part) const;
  std::vector<KeyHash> domains_of_all(const OwnPart& part) const;
  FilterShape shape() const;
  std::uint64_t memory_bytes() const;
  std::string scratch_folder() const;

  const Communicator& communicator_;
  const BuildArguments& command_;
  BuildOptions options_;
  ExceptList exceptions_;
  std::list<OpenLists> opened_;  // all of them: the progress may still look at one before the last
  std::optional<Progress> progress_;
  std::atomic<const OpenLists*> read_now_{nullptr};  // null: no list is being read
  std::optional<RejectLog> rejects_;
  std::optional<BroadDomains> broad_domains_;
  std::optional<std::uint64_t> estimate_;
};

FilterShape Job::shape() const {
  FilterShape shape = shape_of(options_);
  shape.block_count = blocks_for(*options_.expected_entries, options_.bits_per_entry, shape.block_bytes);
  return shape;
}

void Job::open_lists() {
  OpenLists& lists = opened_.emplace_back(command_.inputs, command_.format);
  rejects_->count_from([&lists](std::size_t input) { return lists.blocks.lines_before_share(input); });
  read_now_ = &lists;
}

// Each rank reads a share of what it sees, so a line would be lost where they see different files.
void Job::require_same_lists() const {
  const OpenLists& lists = opened_.back();
  std::string seen;
  for (std::size_t input = 0; input < lists.blocks.input_count(); ++input) {
    seen += lists.blocks.name(input) + '\n' + std::to_string(lists.blocks.file_bytes(input)) + '\n';
  }
  for (const std::string& list : command_.strangers) seen += "--not " + list + '\n';
  const KeyHash hash = hash_key(seen, 0, HashFamily::xxh3);
  if (hash == communicator_.of_first(hash)) return;
  throw BloomgateError(ErrorCode::bad_input,
                       "this rank sees other lists than rank 0, or lists of other sizes; all ranks must see the same "
                       "files at the same paths");
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
  lists.blocks.take_share(communicator_.rank(), communicator_.ranks());
  return lists;
}

// As `bloomgate build` does, so that the same file comes of it: by the option, an estimate, or the number of addresses.
void Job::choose_size() {
  if (!options_.expected_entries) {
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
  CountingLanes counts(options_.threads);
  add_entries(lists.blocks, *lists.format, counts, options_, exceptions_, *broad_domains_, *rejects_);
  options_.expected_entries = std::max<std::uint64_t>(1, communicator_.sum(counts.addresses()));
  rejects_->restart();
  open_lists();
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
  OwnPart part;
  part.shape = shape();
  part.array.emplace(part.shape, communicator_.ranks());
  part.strangers = read_strangers(*part.array);
  part.bits = std::make_unique<OwnBits>(part.shape, *part.array, communicator_.rank(), options_.threads, memory_bytes(),
                                        scratch_folder());
  if (KnownStrangers* const strangers = part.strangers->strangers()) part.bits->set_strangers(*strangers);
  HashExchange exchange(communicator_, part.shape, *part.array, options_.threads,
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

// Of all ranks, at rank 0, in order, each once.
std::vector<KeyHash> Job::domains_of_all(const OwnPart& part) const {
  std::vector<KeyHash> all = part.own_domains;
  if (!is_first()) {
    const std::array<std::uint64_t, 1> count = {all.size()};
    communicator_.send(0, std::as_bytes(std::span(count)));
    communicator_.send(0, std::as_bytes(std::span(all)));
    return {};
  }
  for (unsigned rank = 1; rank < communicator_.ranks(); ++rank) {
    std::array<std::uint64_t, 1> count = {};
    communicator_.receive(rank, std::as_writable_bytes(std::span(count)));
    const std::size_t before = all.size();
    all.resize(before + count[0]);
    communicator_.receive(rank, std::as_writable_bytes(std::span(all).subspan(before)));
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

void Job::send_bits(const OwnPart& part) const {
  for (std::span<const std::byte> rest = part.bits->bytes(); !rest.empty();) {
    const auto chunk = rest.first(std::min<std::size_t>(rest.size(), kChecksumChunkBytes));
    communicator_.send(0, chunk);
    rest = rest.subspan(chunk.size());
  }
}

void Job::send_notes(const OwnPart& part) const {
  KnownStrangers* const strangers = part.strangers->strangers();
  if (strangers == nullptr) return;
  const StrangersSeen seen = seen_of(strangers->values_in({}));
  communicator_.send(0, std::as_bytes(std::span(seen)));
  communicator_.send(0, std::as_bytes(strangers->notes_of({})));
}

void Job::receive_notes(const OwnPart& part) const {
  KnownStrangers& strangers = *part.strangers->strangers();
  for (unsigned rank = 1; rank < communicator_.ranks() && part.array->has_blocks(rank); ++rank) {
    const HashRange range = part.array->hashes_of(rank);
    StrangersSeen seen = {};
    communicator_.receive(rank, std::as_writable_bytes(std::span(seen)));
    if (seen != seen_of(strangers.values_in(range))) {
      throw BloomgateError(ErrorCode::bad_input, "rank " + std::to_string(rank) +
                                                     " has read other lists of --not than this rank; all ranks must "
                                                     "see the same files at the same paths");
    }
    communicator_.receive(rank, std::as_writable_bytes(strangers.notes_of(range)));
  }
}

void Job::write_bits(FilterWriter& writer, const OwnPart& part) {
  const std::span<const std::byte> own = part.bits->bytes();
  for_each_parallel(options_.threads, Section{.bytes = own.size()}.chunk_count(), [&](std::size_t chunk) {
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    writer.write(SectionKind::bits, begin, own.subspan(begin, std::min(kChecksumChunkBytes, own.size() - begin)));
  });
  std::vector<std::byte> chunk;
  for (unsigned rank = 1; rank < communicator_.ranks(); ++rank) {
    const BlockRange range = part.array->blocks_of(rank);
    const std::uint64_t end = range.end() * part.shape.block_bytes;
    for (std::uint64_t begin = range.first * part.shape.block_bytes; begin < end; begin += chunk.size()) {
      chunk.resize(std::min(kChecksumChunkBytes, end - begin));
      communicator_.receive(rank, chunk);
      writer.write(SectionKind::bits, begin, chunk);
    }
  }
}

FilterHeader Job::write(const OwnPart& part) {
  const std::vector<KeyHash> domains = domains_of_all(part);
  FilterHeader header = {.shape = part.shape,
                         .expected_entries = *options_.expected_entries,
                         .addresses = part.addresses,
                         .domains = domains.size()};
  header.bits_set = communicator_.sum(FilterView(part.shape, part.bits->bytes()).count_ones());
  header.pairs = limited(part.pairs, header.addresses, header.domains);
  if (!is_first()) {
    send_bits(part);
    send_notes(part);
    return header;
  }
  const unsigned kept = generations_to_keep(command_.output, {}, command_.keep, options_.threads,
                                            [this](std::string_view line) { show(line); });
  FilterWriter writer(command_.output, header);
  write_bits(writer, part);
  if (!domains.empty()) {
    SectionStream section(writer.file(), SectionKind::domains);
    section.add(domains);
    section.finish();
  }
  if (KnownStrangers* const strangers = part.strangers->strangers()) {
    receive_notes(part);
    strangers->note_domains(domains);
    write_excluded(writer, header, *strangers, [&part] { part.strangers->look_at_entries(); });
  }
  writer.commit(header, options_.threads, kept, options_.sign_key.get());
  return header;
}

int Job::run() {
  const auto start = std::chrono::steady_clock::now();
  const Progress::Style style =
      command_.quiet || !is_first() ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  const auto look = [this]() -> Progress::State {
    const OpenLists* const lists = read_now_;
    return lists == nullptr ? Progress::State{.doing = "writing"} : state_of(*lists, *command_.stores);
  };
  progress_.emplace(style, look, Progress::interval_of(style));
  const auto show_line = [this](std::string_view line) { show(line); };
  const std::string& reject_file = command_.reject_file;
  rejects_.emplace(reject_file.empty() ? "" : reject_file + '.' + std::to_string(communicator_.rank()), command_.inputs,
                   show_line);
  broad_domains_.emplace(usual_broad_domains(command_.free_mail_domains, show_line));
  if (is_first()) {
    refuse_to_overwrite_inputs(command_);
    require_output(command_, options_);
  }
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
  const FilterHeader header = write(part);
  rejects_->keep();
  const BroadCounts broad = {communicator_.sum(rejects_->broad_counts().public_suffixes),
                             communicator_.sum(rejects_->broad_counts().free_mail_domains)};
  const std::uint64_t rejected = communicator_.sum(rejects_->count());
  const std::uint64_t excepted = communicator_.sum(rejects_->excepted());
  progress_->stop();
  if (!is_first()) return EX_OK;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(command_,
               {command_.output, header, rejected, excepted, broad, part.strangers->review(), 0, elapsed.count(), {}});
  if (!command_.json) {
    std::cout << "exchanged " << format_bytes(part.sent_bytes) << " between " << communicator_.ranks()
              << " ranks; rank 0 waited for it " << static_cast<int>(100 * part.waited / elapsed.count() + 0.5)
              << " % of the time\n";
  }
  return EX_OK;
}

}  // namespace

int report_failure(const Communicator& communicator) noexcept {
  std::string host(HOST_NAME_MAX + 1, '\0');
  if (gethostname(host.data(), host.size() - 1) != 0) host = "?";
  return explain_failure([&](std::string_view what, FailureKind kind) {
    if (kind == FailureKind::other) {
      std::cerr << "bloomgate-mpi build: rank " << communicator.rank() << " on " << host.c_str() << ": " << what
                << '\n';
    } else if (communicator.rank() == 0) {
      std::cerr << "bloomgate-mpi build: " << what << "\n'bloomgate-mpi build --help' shows what it takes\n";
    }
  });
}

int run_build(const Communicator& communicator, const Arguments& arguments) {
  // Rank 0 speaks for all about the command line, which is the same for all.
  std::optional<BuildArguments> command;
  if (communicator.rank() != 0) std::cout.setstate(std::ios::failbit);
  command = parse_build_arguments(arguments, kHelp);
  std::cout.clear();
  if (!command) return EX_OK;
  require_supported(*command);
  stop_flag();
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  return Job(communicator, *command).run();
}

}  // namespace bloomgate::mpi
