// The command line of `bloomgate build`, read and checked; `bloomgate-mpi build` takes the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/cli/command_line.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/engine/builder.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/jobs/open_lists.hpp"
#include "filter/jobs/store_inputs.hpp"

namespace bloomgate::cli {

struct BuildArguments {
  std::string output;
  std::string reject_file;
  std::string expected_entries;
  std::string seed;
  std::string seed_from;
  std::string store_seed;
  std::string memory;
  std::string scratch;  // as given; options.scratch_folder is what is used
  std::string format;
  std::string tag_separators;
  BroadFiles broad_files;
  std::string newest;
  std::string sign_key;
  std::vector<std::string> exceptions;
  std::vector<std::string> strangers;
  unsigned keep = 0;
  bool no_sender_domains = false;
  bool strict = false;
  bool quiet = false;
  bool json = false;
  std::vector<std::string> inputs;      // without the stores
  std::unique_ptr<StoreInputs> stores;  // never null once parsed
  ShapeOptions shape;
  LossLimits limits;
  std::string replaces;  // as given; replaced() is what is meant
  BuildOptions options;

  // The filter that the new one is to take the place of.
  const std::string& replaced() const noexcept { return replaces.empty() ? output : replaces; }
};

// `extra` are options of a program that takes others besides. Nothing given: --help was. Throws UsageError, and what
// the files throw that it reads: stores, keys, `--seed-from`.
std::optional<BuildArguments> parse_build_arguments(const Arguments& arguments, const HelpText& help,
                                                    const boost::program_options::options_description& extra = {});

// Before the lists are read, as they may be large. Throws UsageError where the output would overwrite one of them.
void refuse_to_overwrite_inputs(const BuildArguments& arguments);

// Throws what require_can_write() and its like throw where the output, with `options`, cannot be put.
void require_output(const BuildArguments& arguments, const BuildOptions& options);

// How many addresses the inputs hold, if that is known before they are read.
std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile);

// Whether a filter that was sized for the estimate would be another than was asked for.
bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses);

}  // namespace bloomgate::cli
