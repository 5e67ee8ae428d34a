#include "filter/cli/commands/kept_output.hpp"

#include <unistd.h>

#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/file/generations.hpp"
#include "filter/file/mapped_filter.hpp"

namespace bloomgate::cli {

unsigned checked_keep(unsigned keep) {
  if (keep <= kMostGenerations) return keep;
  throw UsageError("--keep takes a number from 0 to " + std::to_string(kMostGenerations));
}

unsigned generations_to_keep(const std::string& path, unsigned keep, unsigned threads,
                             const std::function<void(std::string_view)>& show) {
  if (keep == 0 || access(path.c_str(), F_OK) != 0) return keep;
  try {
    MappedFilter(path).verify_body(threads);
    return keep;
  } catch (const BloomgateError& error) {
    show(std::string("warning: the old filter is not kept: ") + error.what());
    return 0;
  }
}

}  // namespace bloomgate::cli
