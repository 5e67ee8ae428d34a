// What of the last `bloomgate-update` has failed: it leaves a file beside the whitelist that it renews (WHITELIST in
// update.conf), until a run goes well. The status page, the figures and --doctor read it. Safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

// "/var/lib/bloomgate/whitelist.bloom.update"; the same for a folder of layers.
std::string update_faults_file(std::string_view whitelist);

// A sentence for each step that has failed: which one, since when, when last, and what it has said last. Empty if all
// went well, or no run is known. Whatever is in the file: at most 20, of at most 1000 bytes. Throws std::bad_alloc.
std::vector<std::string> update_faults(std::string_view whitelist);

inline constexpr std::string_view kUpdateRemedy =
    "The whitelist in use stays. See what it needs: journalctl -u bloomgate-update; then: systemctl start "
    "bloomgate-update";

}  // namespace bloomgate
