#include "filter/cli/lists/list_options.hpp"

#include "filter/cli/command_line.hpp"
#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

void ListOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("format", po::value(&format)->default_value(format)->value_name("FORMAT"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("quiet", po::bool_switch(&quiet), "show no progress");
}

unsigned checked_threads(unsigned threads) {
  constexpr unsigned kMost = 256;
  if (threads < 1 || threads > kMost) throw UsageError("--threads takes 1 to " + std::to_string(kMost));
  return threads;
}

OpenLists::OpenLists(const std::vector<std::string>& files, const std::string& format_name, BlockOrder order)
    : format(make_format(format_name, files.size())), blocks(files, stop_flag(), format->quotes_line_ends(), order) {}

Progress::State OpenLists::state() const {
  return {.doing = "reading", .done_bytes = blocks.done_bytes(), .total_bytes = blocks.total_bytes()};
}

}  // namespace bloomgate::cli
