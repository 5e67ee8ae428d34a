// Loads a whitelist as it is configured: one filter file, or a folder of them, its layers (layer_folder.hpp), which are
// loaded together or not at all. Used by the supervisor, by --explain and by --check-config.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// The name in the configuration of a whitelist, or of that which a layer is of: `customers` of `customers/0001`.
std::string_view configured_name(std::string_view name) noexcept;

// One filter, or one for each layer in the order of their names, called NAME/LAYER. A layer whose file is still that of
// a sound one of `in_use`, which was loaded with the same trusted keys, is not loaded again. Where layers come and go
// meanwhile, it begins again, so that the result is what was there at one moment. Throws what LoadedFilter and
// usable_layers_in() throw, {bad_configuration} for a folder with a store, and {changed_while_open} if the folder does
// not come to rest.
// With trusted keys the filters are those that usable_manifest() names, and no others. What is compared with the
// manifest is the file that was opened, not its path a second time. A list of what is revoked that the manifest names
// is part of the whitelist: without it there is no whitelist. The caller that puts them into use has to
// remember_taken() the manifest that they have.
std::vector<NamedFilter> load_whitelist_files(const WhitelistSource& source, bool lock, FilterCheck check,
                                              const std::vector<NamedFilter>& in_use = {});

}  // namespace bloomgate
