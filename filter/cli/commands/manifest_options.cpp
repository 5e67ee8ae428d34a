#include "filter/cli/commands/manifest_options.hpp"

#include "filter/base/usage_error.hpp"
#include "filter/ingest/dated_lists.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

void ManifestOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("list-name", po::value(&list_name)->value_name("NAME"),
       "the name of the list in the manifest: a different one for each list that one key signs (default: as in the "
       "last manifest, or else the name of the filter or folder without its suffix)")  //
      ("holds", po::value(&holds)->value_name("AGE"),
       "how long the manifest is valid, such as 14d or 26w (default: 14d); write the next one before that");
}

ManifestRequest ManifestOptions::request(bool has_key, const std::string& option) const {
  if (!has_key && !list_name.empty()) throw UsageError("--list-name goes with " + option);
  if (!has_key && !holds.empty()) throw UsageError("--holds goes with " + option);
  ManifestRequest request = {.list_name = list_name};
  if (!holds.empty()) request.holds = parse_age(holds, "--holds");
  return request;
}

}  // namespace bloomgate::cli
