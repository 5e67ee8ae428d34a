// Options that several subcommands have: of those that look lists up in a filter, or make one of them.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "filter/base/parallel.hpp"
#include "filter/broad/broad_domains.hpp"
#include "filter/jobs/loss_limits.hpp"

namespace bloomgate::cli {

// The argument, if it is a number of threads to work with. Throws UsageError that names the option --threads.
unsigned checked_threads(unsigned threads);

struct ListOptions {
  std::string format = "text";
  unsigned threads = default_threads();
  bool quiet = false;

  // --format, --threads and --quiet, stored in here by the parser.
  void add_to(boost::program_options::options_description& options);
  unsigned chosen_threads() const { return checked_threads(threads); }
};

// --free-mail-domains and --shared-signers, stored in `files` by the parser.
void add_broad_files(BroadFiles& files, boost::program_options::options_description& options);

// The options that lift the limits of what may get lost, stored in `limits` by the parser.
void add_allow_empty(LossLimits& limits, boost::program_options::options_description& options);
void add_allow_rejects(LossLimits& limits, boost::program_options::options_description& options);
void add_allow_shrink(LossLimits& limits, boost::program_options::options_description& options);

}  // namespace bloomgate::cli
