// What the configuration makes for connections: the checker that they ask, the verifier, the mode. Made at the start
// and again at a reload; what has not changed in between is taken over. Connections that have begun keep what they
// began with, and the last of them frees it.
#pragma once

#include <memory>

#include "config/daemon_options.hpp"
#include "milter/glue/connection.hpp"

namespace bloomgate {

// Immutable once it is made.
struct ServedOptions : ConnectionParts {
  DaemonOptions options = {};
};

// `common` has the parts that no option changes. `in_use` may be null: there is nothing to take over. Starts the
// verifier's child and the sampler's thread where they are wanted. Throws BloomgateError if one of these cannot be, or
// if the folder for long messages cannot be used.
std::shared_ptr<const ServedOptions> make_served_options(const DaemonOptions& options, const ConnectionParts& common,
                                                         const ServedOptions* in_use);

// Else the first long message would tell. Throws BloomgateError{bad_configuration}.
void require_temporary_folder(const DaemonOptions& options);

}  // namespace bloomgate
