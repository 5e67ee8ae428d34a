// The options of `bloomgate build`, and those of them that `append` and `fold` have, too; `bloomgate-mpi build` takes
// the same as `build`.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "filter/cli/command_line.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/jobs/build_plan.hpp"

namespace bloomgate::cli {

// Not by its default.
bool is_given(const boost::program_options::variables_map& values, const char* option);

// How the messages of jobs call the options of this program.
JobNames option_names();

// What goes into every filter that is made of lists, stored in here by the parser.
class ListBuildOptions {
 public:
  // --bits-per-entry and --hashes.
  void add_size_to(boost::program_options::options_description& options);
  // All others that the three commands have in common, but for --keep: what is kept is not the same.
  void add_to(boost::program_options::options_description& options);

  // The request, but for output and inputs. Throws UsageError, and what reading the key throws.
  BuildRequest request(const boost::program_options::variables_map& values) const;

  ShapeOptions shape;
  LossLimits limits;
  unsigned keep = 0;
  bool quiet = false;
  bool json = false;

 private:
  BuildRequest request_;  // what the parser stores as it is
  std::string expected_entries_;
  std::string seed_;
  std::string memory_;
  std::string scratch_;
  std::string tag_separators_;
  std::string newest_;
  std::string sign_key_;
  bool no_sender_domains_ = false;
};

struct BuildCommand {
  BuildRequest request;
  std::string layout;  // as given
  bool quiet = false;
  bool json = false;
};

// `extra` are options of a program that takes others besides. Nothing given: --help was. Throws as request() does.
std::optional<BuildCommand> parse_build_command(const Arguments& arguments, const HelpText& help,
                                                const boost::program_options::options_description& extra = {});

}  // namespace bloomgate::cli
