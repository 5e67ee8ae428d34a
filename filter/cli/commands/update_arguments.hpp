// The command line of `bloomgate update`, read and checked; `bloomgate-mpi update` takes the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/cli/command_line.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/engine/builder.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate::cli {

struct UpdateArguments {
  std::string output;
  std::string store;
  std::string new_store;  // empty: in the place of the old one
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::vector<std::string> strangers;
  std::string format;
  std::string expected_entries;
  std::string seed;
  std::string memory;
  std::string scratch;  // as given; options.scratch_folder is what is used
  BroadFiles broad_files;
  std::string sign_key;
  unsigned keep = 0;
  bool no_sender_domains = false;
  bool strict = false;
  bool quiet = false;
  bool json = false;
  ShapeOptions shape;
  LossLimits limits;
  // Whether the shape was asked for; what was not, is as the old filter has it.
  bool has_layout = false;
  bool has_block_bytes = false;
  bool has_bits_per_entry = false;
  bool has_hashes = false;
  BuildOptions options;

  bool is_in_place() const noexcept { return new_store.empty(); }
  const std::string& store_path() const noexcept { return is_in_place() ? store : new_store; }
};

// `extra` are options of a program that takes others besides. Nothing given: --help was. Throws UsageError, and what
// the files throw that it reads: folders of lists, keys.
std::optional<UpdateArguments> parse_update_arguments(const Arguments& arguments, const HelpText& help,
                                                      const boost::program_options::options_description& extra = {});

// Before anything is read. Throws UsageError where the output would overwrite one of the inputs.
void refuse_to_overwrite_inputs(const UpdateArguments& arguments);

// Completes the options by the old filter, if it is there. Throws what MappedFilter throws.
void choose_shape(UpdateArguments& arguments);

// The new pair has the domains of its senders if the store has them and the options do not leave them out. Gives a
// warning where the store does not have them and the options ask for them; else nothing.
std::string choose_sender_domains(UpdateArguments& arguments, const StoreFile& old);

// Throws what require_can_write() and its like throw where the pair cannot be put.
void require_outputs(const UpdateArguments& arguments);

// The store that is to be changed. In its place that is only done together with its filter: another filter would lose
// its store. Throws UsageError, BloomgateError{bad_argument} where the filter has known strangers and no list of them
// is given, and what opening the two throws.
std::unique_ptr<StoreFile> open_old_store(const UpdateArguments& arguments);

}  // namespace bloomgate::cli
