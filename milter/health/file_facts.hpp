// What files tell the rules: those of the lists as they are on the disk, or as a daemon has them loaded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/health/health_facts.hpp"
#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// What is wrong with the store of a whitelist since it was loaded. Throws std::bad_alloc.
std::vector<std::string> store_faults(const LoadedFilter& whitelist);

// Of a whitelist as it is configured: its filter, or its layers. Reads the files beside it: those of
// bloomgate-update and of the generation before.
WhitelistFacts whitelist_facts(const WhitelistSource& source, std::span<const NamedFilter> filters);

// Opens the lists of the configuration, and looks at their headers and lines. What cannot be opened is a fault of it.
// Throws std::bad_alloc.
HealthFacts facts_of_files(const DaemonCommand& command);

}  // namespace bloomgate
