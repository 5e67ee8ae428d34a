#include "filter/cli/commands/generation_text.hpp"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "filter/base/error.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/file/mapped_filter.hpp"

namespace bloomgate::cli {

GenerationDescription describe(const std::string& path) {
  GenerationDescription description{path};
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) description.written = status.st_mtime;
  try {
    description.entries = entries_of(MappedFilter(path).header());
  } catch (const BloomgateError& error) {
    description.fault = error.what();
  }
  return description;
}

std::string generation_text(const GenerationDescription& generation) {
  if (!generation.fault.empty()) return generation.path + ": cannot be used: " + generation.fault;
  return generation.path + ": " + format_count(generation.entries) + " entries, built " +
         format_time(generation.written);
}

nlohmann::ordered_json generation_json(const GenerationDescription& generation) {
  return {{"file", generation.path},
          {"entries", generation.entries},
          {"written", format_time(generation.written)},
          {"fault", generation.fault}};
}

}  // namespace bloomgate::cli
