// The facts for the rules that come from files: the lists as they are on disk, or as a daemon has loaded them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/health/health_facts.hpp"
#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// The faults of a whitelist's store since it was loaded. Throws std::bad_alloc.
std::vector<std::string> store_faults(const LoadedFilter& whitelist);

// The facts of a whitelist as configured: its filter, or its layers. Reads the files beside it: the one of
// bloomgate-update and the previous generation.
WhitelistFacts whitelist_facts(const WhitelistSource& source, std::span<const NamedFilter> filters);

// Opens the configured lists, and examines their headers and lines. If a list cannot be opened, that is one of its
// faults. Throws std::bad_alloc.
HealthFacts facts_of_files(const DaemonCommand& command);

}  // namespace bloomgate
