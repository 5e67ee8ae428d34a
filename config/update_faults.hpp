// The steps that failed in the last run of `bloomgate-update`. The script writes them into a file beside the whitelist
// (WHITELIST in update.conf), and removes that file after a run without a failure. The status page, the figures and
// `doctor` read it. Safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

// "/var/lib/bloomgate/whitelist.bloom.update"; the same for a folder of layers.
std::string update_faults_file(std::string_view whitelist);

// Returns a sentence for each failed step: its name, since when it has failed, when it failed last, and its last line
// of output. Returns nothing if there is no such file. At most 20 sentences, each of at most 1000 bytes. Throws
// std::bad_alloc.
std::vector<std::string> update_faults(std::string_view whitelist);

}  // namespace bloomgate
