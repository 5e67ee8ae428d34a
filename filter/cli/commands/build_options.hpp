// The options of `bloomgate build` and `update-store`, and those of them that `add-layer` and `fold-layers` have, too;
// `bloomgate-mpi` takes the same.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "filter/cli/command_line.hpp"
#include "filter/cli/commands/manifest_options.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/jobs/build_job.hpp"
#include "filter/jobs/update_job.hpp"

namespace bloomgate::cli {

// The argument, if it is a number of generations. Throws UsageError that names the option --keep.
unsigned checked_keep(unsigned keep);

// Throws UsageError that names the option --tag-separators.
TagSeparators parse_separators(const std::string& text);

// What every command takes that makes a filter of lists, stored in here by the parser. Each command declares it in
// words of its own.
struct FilterOptions {
  // Puts them into the request. Throws UsageError, and what reading the key throws.
  void read_into(FilterRequest& request, const boost::program_options::variables_map& values) const;

  ShapeOptions shape;
  ManifestOptions manifest;
  std::string expected_entries;
  std::string seed;
  std::string memory;
  std::string scratch;
  std::string sign_key;
  bool no_sender_domains = false;
  bool quiet = false;
  bool json = false;

  bool reports() const { return shows_result(json, quiet); }
};

// What goes into every filter that is built of lists.
class ListBuildOptions : public FilterOptions {
 public:
  // --bits-per-entry and --hashes.
  void add_size_to(boost::program_options::options_description& options);
  // All others that build, add-layer and fold-layers have in common, but for --keep: what is kept is not the same.
  void add_to(boost::program_options::options_description& options);

  // The request, but for output and inputs. Throws as read_into() does.
  BuildRequest request(const boost::program_options::variables_map& values) const;

  BuildRequest asked;  // what the parser stores as it is

 private:
  std::string tag_separators_;
  std::string newest_;
};

template <typename Request>
struct FilterCommand {
  Request request;
  bool quiet = false;
  bool json = false;

  bool reports() const { return shows_result(json, quiet); }
};

// `extra` are options of a program that takes others besides. Nothing given: --help was. Throw as read_into() does.
std::optional<FilterCommand<BuildRequest>> parse_build_command(
    const Arguments& arguments, const HelpText& help, const boost::program_options::options_description& extra = {});
std::optional<FilterCommand<UpdateRequest>> parse_update_command(
    const Arguments& arguments, const HelpText& help, const boost::program_options::options_description& extra = {});

}  // namespace bloomgate::cli
