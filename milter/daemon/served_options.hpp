// What connections use according to the configuration: the checker, the verifier and the mode. Made at the start and
// again at a reload, which keeps the parts whose options have not changed. A connection keeps the parts with which it
// began, and the last such connection frees them.
#pragma once

#include <memory>

#include "config/daemon_options.hpp"
#include "milter/glue/connection.hpp"

namespace bloomgate {

// Immutable once it is made.
struct ServedOptions : ConnectionParts {
  DaemonOptions options = {};
};

// `common` has the parts that no option changes. `in_use` may be null: then there is nothing to keep. Starts the
// verifier's child process and the sampler's thread if the options need them. Throws BloomgateError if one of these
// cannot be started, or if the folder for long messages cannot be used.
std::shared_ptr<const ServedOptions> make_served_options(const DaemonOptions& options, const ConnectionParts& common,
                                                         const ServedOptions* in_use);

// Fails now rather than at the first long message. Throws BloomgateError{bad_configuration}.
void require_temporary_folder(const DaemonOptions& options);

}  // namespace bloomgate
