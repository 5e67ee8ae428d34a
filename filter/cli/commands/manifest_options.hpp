// The options of the manifest that is written when a whitelist is signed (filter/keep/publish_manifest.hpp), for the
// commands that sign.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "filter/keep/publish_manifest.hpp"

namespace bloomgate::cli {

struct ManifestOptions {
  // --list-name and --holds, stored in here by the parser.
  void add_to(boost::program_options::options_description& options);

  // `option` is that of the key, and whether it is given. Throws UsageError, also for one of these without a key.
  ManifestRequest request(bool has_key, const std::string& option) const;

  std::string list_name;
  std::string holds;
};

}  // namespace bloomgate::cli
