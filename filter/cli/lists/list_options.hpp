// The options of subcommands that look lists up in a filter, and open lists for these and for `build`.
#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/cli/lists/blocks.hpp"
#include "filter/cli/lists/format.hpp"
#include "filter/cli/progress.hpp"

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

struct OpenLists {
  // `files` as list_files() gives them, `format_name` as in --format. Throws what make_format() and Blocks
  // throw.
  OpenLists(const std::vector<std::string>& files, const std::string& format_name, BlockOrder order = BlockOrder::any);

  // What a Progress shows about them.
  Progress::State state() const;

  std::unique_ptr<Format> format;
  Blocks blocks;
};

}  // namespace bloomgate::cli
