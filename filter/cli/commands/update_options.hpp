// The options of `bloomgate update`; `bloomgate-mpi update` takes the same.
#pragma once

#include <boost/program_options.hpp>
#include <optional>

#include "filter/cli/command_line.hpp"
#include "filter/jobs/update_plan.hpp"

namespace bloomgate::cli {

struct UpdateCommand {
  UpdateRequest request;
  bool quiet = false;
  bool json = false;
};

// `extra` are options of a program that takes others besides. Nothing given: --help was. Throws UsageError, and what
// reading the key throws.
std::optional<UpdateCommand> parse_update_command(const Arguments& arguments, const HelpText& help,
                                                  const boost::program_options::options_description& extra = {});

}  // namespace bloomgate::cli
