#include "filter/cli/commands/generation_text.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {

namespace {

GenerationDescription describe_folder(const std::string& folder) {
  GenerationDescription all{folder};
  try {
    for (const Layer& layer : usable_layers_in(folder)) {
      const GenerationDescription one = describe(layer.path);
      if (!one.fault.empty()) all.fault = one.fault;
      all.entries = saturating_sum(all.entries, one.entries);
      all.written = std::max(all.written, one.written);
      ++all.layers;
    }
  } catch (const BloomgateError& error) {
    all.fault = error.what();
  }
  return all;
}

}  // namespace

GenerationDescription describe(const std::string& path) {
  if (is_folder(path)) return describe_folder(path);
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
  const std::string layers =
      generation.layers == 0 ? "" : " in " + format_counted(generation.layers, "layer", "layers");
  return generation.path + ": " + format_counted(generation.entries, "entry", "entries") + layers + ", built " +
         format_time(generation.written);
}

Json generation_json(const GenerationDescription& generation) {
  Json json = {{"file", generation.path},
               {"entries", generation.entries},
               {"written", format_time(generation.written)},
               {"fault", generation.fault}};
  if (generation.layers != 0) json["layers"] = generation.layers;
  return json;
}

}  // namespace bloomgate::cli
