// What the configuration makes for connections: the checker that they ask, the verifier, the mode. Made at the start
// and again at a reload; what has not changed in between is taken over. Connections that have begun keep what they
// began with, and the last of them frees it.
#pragma once

#include <memory>

#include "config/daemon_options.hpp"
#include "milter/deep_check/deep_check.hpp"
#include "milter/deep_check/delivery_sampler.hpp"
#include "milter/dkim/child_verifier.hpp"
#include "milter/glue/connection.hpp"

namespace bloomgate {

// Immutable once it is made.
struct ServedOptions {
  DaemonOptions options;
  std::shared_ptr<const DeepCheck> deep_check = nullptr;
  std::shared_ptr<DeliverySampler> sampler = nullptr;
  std::shared_ptr<ChildVerifier> verifier = nullptr;
  ConnectionParts parts = {};  // its pointers lead to the members above
};

// `common` has the parts that no option changes. `in_use` may be null: there is nothing to take over. Starts the
// verifier's child and the sampler's thread where they are wanted. Throws BloomgateError if one of these cannot be, or
// if the folder for long messages cannot be used.
std::shared_ptr<const ServedOptions> make_served_options(const DaemonOptions& options, const ConnectionParts& common,
                                                         const ServedOptions* in_use);

// For PartsSlot; keeps the whole of it.
std::shared_ptr<const ConnectionParts> parts_of(std::shared_ptr<const ServedOptions> served);

// Else the first long message would tell. Throws BloomgateError{bad_configuration}.
void require_temporary_folder(const DaemonOptions& options);

}  // namespace bloomgate
