// Loads a whitelist as configured: one filter file, or a folder of them, its layers (layer_folder.hpp), which are
// loaded together or not at all. Used by the supervisor, by `explain` and by `check-config`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// The configured name of a whitelist, or of the whitelist to which a layer belongs: `customers` for `customers/0001`.
std::string_view configured_name(std::string_view name) noexcept;

// Returns one filter, or one for each layer in the order of their names, called NAME/LAYER. A layer is not loaded again
// if its file is still that of an undamaged one in `in_use` that was loaded with the same trusted keys. If layers
// appear or disappear meanwhile, loading starts again, so that the result is what existed at one moment. Throws what
// LoadedFilter and usable_layers_in() throw, {bad_configuration} for a folder with a store, and {changed_while_open} if
// the folder keeps changing.
// With trusted keys, the filters are exactly those that usable_manifest() names. The opened file is compared with the
// manifest; its path is not opened a second time. If the manifest names a list of revoked entries, that list is part of
// the whitelist: without it the whitelist is not loaded. The caller that puts the filters into use has to call
// remember_taken() with their manifest.
std::vector<NamedFilter> load_whitelist_files(const WhitelistSource& source, bool lock, FilterCheck check,
                                              const std::vector<NamedFilter>& in_use = {});

}  // namespace bloomgate
