// The options of subcommands that look lists up in a filter, and the lists themselves once they are open.
#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <string>
#include <vector>

#include "filter/cli/list_format.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/text_blocks.hpp"
#include "filter/parallel.hpp"

namespace bloomgate::cli {

inline constexpr unsigned kMostThreads = 256;

struct ListOptions {
  std::string format = "text";
  unsigned threads = default_threads();
  bool quiet = false;

  // --format, --threads and --quiet, stored in here by the parser.
  void add_to(boost::program_options::options_description& options);
  // Throws UsageError that names the option.
  unsigned chosen_threads() const;
};

struct OpenLists {
  // `inputs` as list_files() takes them. Throws what list_files(), make_list_format() and TextBlocks throw.
  OpenLists(const std::vector<std::string>& inputs, const ListOptions& options, BlockOrder order);

  // What a Progress tells of them.
  Progress::State state() const;

  std::vector<std::string> files;
  std::unique_ptr<ListFormat> format;
  TextBlocks blocks;
};

}  // namespace bloomgate::cli
