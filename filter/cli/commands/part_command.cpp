// `bloomgate part`: one of many jobs reads its share of lists, and makes a store of it.
#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/cli/commands/build_options.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/commands/store_seed_option.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/jobs/part_job.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr HelpText kPartHelp = {
    .synopsis = "bloomgate part --of N --index I --store-seed-file SEED --output FILE [OPTION...] INPUT...",
    .purpose =
        "Reads part I of N of the lists, counted from 0, and writes it as a store: one job of many, on machines that "
        "need no contact with each other. 'bloomgate build' makes the filter from all parts, which are its inputs. It "
        "refuses if a part is missing, is there twice, or belongs to another run. All jobs read the same lists, or "
        "with --local-lists each its own. A job that runs again makes the same bytes.",
    .examples =
        "  bloomgate part --of 64 --index $JOB_COMPLETION_INDEX --store-seed-file /secret/seed --run 2026-11-29 \\\n"
        "    --output /parts/$JOB_COMPLETION_INDEX.store /lists\n"
        "  bloomgate build --output whitelist.bloom --layout ribbon /parts\n"};

struct PartCommand {
  PartRequest request;
  std::string parts;
  std::string index;
  StoreSeedOption store_seed;
  std::string memory;
  std::string scratch;
  std::string tag_separators;
  std::string newest;
  bool no_sender_domains = false;
  ShapeOptions shape;
  bool quiet = false;
  bool json = false;
};

std::uint32_t parse_number(const std::string& text, const char* option) {
  const std::uint64_t number = parse_seed(text, option);
  if (number <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(number);
  throw UsageError(std::string(option) + " takes a smaller number than " + text);
}

// The temporary file of a store for standard output. A store needs a file first, since its header is written last.
class StoreForPipe {
 public:
  explicit StoreForPipe(const std::string& scratch) : folder_(scratch + "/bloomgate-part-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr)
      throw system_error(ErrorCode::cannot_write, "make a folder in", scratch, errno);
  }
  ~StoreForPipe() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  StoreForPipe(const StoreForPipe&) = delete;
  StoreForPipe& operator=(const StoreForPipe&) = delete;

  std::string path() const { return folder_ + "/store"; }

  // Removes the file's name before the first byte is written, so that no file remains if the program is killed.
  void write_out(std::uint64_t bytes, const std::atomic<bool>& stop) const {
    std::ifstream file(path(), std::ios::binary);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::vector<char> piece(kBytesAtOnce);
    while (std::cout && (file.read(piece.data(), kBytesAtOnce) || file.gcount() != 0)) {
      check_stop(stop);
      std::cout.write(piece.data(), file.gcount());
      bytes -= static_cast<std::uint64_t>(file.gcount());
    }
    if (std::cout && bytes != 0) {
      throw BloomgateError(ErrorCode::cannot_read, "read " + path() + ": it is not as long as it was");
    }
  }

 private:
  static constexpr std::streamsize kBytesAtOnce = 1 << 20;

  std::string folder_;
};

Json json_of(const PartResult& result) {
  const StoreHeader& header = result.header;
  return {{"store", result.output},          {"part", header.part.index},
          {"parts", header.part.parts},      {"addresses", header.addresses},
          {"domains", header.domains},       {"sender_domains", header.sender_domains},
          {"rejected", result.rejected},     {"excepted", result.excepted},
          {"file_bytes", result.file_bytes}, {"spilled_bytes", result.spilled_bytes},
          {"seconds", result.seconds}};
}

}  // namespace

int run_part(const Arguments& arguments) {
  PartCommand command;
  PartRequest& request = command.request;
  BuildOptions& options = request.options;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&request.output)->required()->value_name("FILE"),
       "where to put the store; an old file is replaced once the new one is complete. -: to standard output")  //
      ("of", po::value(&command.parts)->required()->value_name("N"), "the number of parts")                    //
      ("index", po::value(&command.index)->required()->value_name("I"), "the part to make: 0 to N - 1");
  command.store_seed.add_to(visible, "seed of the hashes in the store, the same for all parts; keep it secret");
  visible.add_options()  //
      ("run", po::value(&request.run)->value_name("NAME"),
       "the name of the run, the same for all parts, so that no part of another run is used by mistake")  //
      ("local-lists", po::bool_switch(&request.has_local_lists),
       "the lists belong to this job alone, and it reads all of them")  //
      ("threads", po::value(&options.threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("memory", po::value(&command.memory)->value_name("M"),
       "working memory (default: 256M, or a quarter of the free memory if that is less)")  //
      ("scratch", po::value(&command.scratch)->value_name("FOLDER"),
       "where to put what does not fit into memory (default: the folder of the store; with --output -, /var/tmp)")  //
      ("keep-case", po::bool_switch(&options.profile.keep_local_part_case),
       "treat Joe@example.org and joe@example.org as two addresses, as for build")  //
      ("tag-separators", po::value(&command.tag_separators)->value_name("CHARACTERS"),
       "treat joe+tag@example.org as joe@example.org, as for build")  //
      ("format", po::value(&request.format)->default_value("text")->value_name("text|csv:COLUMN|postfix-map"),
       "how the lists are written, as for build")  //
      ("newest", po::value(&command.newest)->value_name("AGE"),
       "take dated lists of the last AGE only, as for build")  //
      ("leave-out", po::value(&request.exceptions)->composing()->value_name("LIST"),
       "leave out the entries of LIST, a text list, and all addresses in its domains; may be repeated")  //
      ("no-sender-domains", po::bool_switch(&command.no_sender_domains),
       "do not store the domains of the addresses; a filter of the parts then has none")                        //
      ("reject-file", po::value(&request.reject_file)->value_name("FILE"), "write all rejected lines to FILE")  //
      ("strict", po::bool_switch(&request.is_strict), "fail if any line is rejected");
  add_quiet(command.quiet, visible);
  add_json(command.json, visible);
  add_allow_rejects(request.limits, visible);
  add_broad_files(request.broad_files, visible);
  command.shape.add_hash_to(visible);
  const auto values = parse_command_line(arguments, visible, &request.inputs, kPartHelp);
  if (!values) return EX_OK;
  if (request.inputs.empty()) throw UsageError("name at least one list, or - for standard input");
  request.parts = parse_number(command.parts, "--of");
  request.index = parse_number(command.index, "--index");
  const std::optional<std::uint64_t> store_seed = command.store_seed.chosen(*values);
  if (!store_seed) throw UsageError("give one of --store-seed-file and --store-seed");
  request.store_seed = *store_seed;
  if (!is_given(*values, "threads")) options.threads = default_threads();
  checked_threads(options.threads);
  if (!command.memory.empty()) request.memory_bytes = parse_bytes(command.memory, "--memory");
  if (is_given(*values, "scratch")) request.scratch_folder = command.scratch;
  if (is_given(*values, "tag-separators")) options.profile.tag_separators = parse_separators(command.tag_separators);
  if (is_given(*values, "newest")) request.newest = parse_age(command.newest, "--newest");
  options.hash_family = command.shape.chosen_hash_family();
  options.sender_domains = !command.no_sender_domains;
  if (request.output.empty()) throw UsageError("--output needs the name of a file");
  std::optional<StoreForPipe> pipe;
  if (request.output == "-") {
    if (command.json)
      throw UsageError("--output - writes the store to standard output; give --output a file, or leave --json out");
    if (is_same_file(request.reject_file, "/dev/stdout")) {
      throw UsageError("with --output - standard output has the store, and --reject-file needs another file");
    }
    if (isatty(STDOUT_FILENO) == 1) throw UsageError("--output -: a store is binary; send it to a file or a pipe");
    if (!request.scratch_folder) request.scratch_folder = "/var/tmp";
    request.output = pipe.emplace(*request.scratch_folder).path();
  }
  // The work continues where the reader of the progress or the report is gone.
  std::signal(SIGPIPE, SIG_IGN);
  JobProgress progress(command.quiet);
  const PartResult result = make_part(std::move(request), progress, stop_flag());
  if (command.json) {
    print_report(json_of(result));
    return EX_OK;
  }
  if (pipe) {
    pipe->write_out(result.file_bytes, stop_flag());
    return EX_OK;
  }
  if (command.quiet) return EX_OK;
  const StorePart& part = result.header.part;
  std::cout << "made      " << result.output << ", part " << part.index << " of " << part.parts << "\naddresses "
            << format_count(result.header.addresses) << "\ndomains   " << format_count(result.header.domains)
            << "\nrejected  " << format_counted(result.rejected, "line", "lines") << "\nsize      "
            << format_bytes(result.file_bytes) << '\n';
  return EX_OK;
}

}  // namespace bloomgate::cli
