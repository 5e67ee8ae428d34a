// `bloomgate-milter add|remove|revoke|unrevoke|opt-out|opt-in ENTRY...`: an operator edits an exact list of the
// configuration, and a running daemon has it within a second. Called by main.cpp.
#pragma once

#include <ostream>

#include "config/daemon_options.hpp"

namespace bloomgate {

// Makes the change, and writes what became of each entry to `out`. Returns the exit status: EX_OK also if there was
// nothing to change; 1 if an address that was taken out is still covered by another entry of the list. Throws
// config_error() if the configuration names no such list, and what edit_list_file() and entries_of_words() throw.
int edit_list(const DaemonCommand& command, std::ostream& out);

}  // namespace bloomgate
