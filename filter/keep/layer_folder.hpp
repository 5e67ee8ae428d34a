// A whitelist in layers: a folder of filter files, whose names end in `.bloom`. A sender is listed if any of them lists
// the sender. Used by the daemon, which loads all of them together, and by the commands that make and show layers.
//
// Files with other names are not layers: hidden files, such as a layer that is being written (new_file.hpp) or copied
// by rsync; kept generations (`0001.bloom.1`). Earlier states of the folder are beside it (generations.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

inline constexpr std::size_t kMostLayers = 64;
inline constexpr std::size_t kMaxLayerNameBytes = 63;
inline constexpr std::string_view kLayerSuffix = ".bloom";

// Whether a file of that name in a folder of layers is a layer.
bool is_layer_name(std::string_view file_name) noexcept;

// Whether a name has only letters, digits, dots, hyphens and underscores.
bool is_plain_name(std::string_view name) noexcept;

// Whether there is a folder at `path`, or at the end of its links.
bool is_folder(const std::string& path) noexcept;

// A layer: its path, and its name without the suffix.
struct Layer {
  std::string path;
  std::string name;
  friend bool operator==(const Layer&, const Layer&) = default;
};

// The layers of a folder, in the order of their names; nothing is checked. Empty if the folder cannot be read. If other
// processes add and remove layers meanwhile, a layer that is there all the time is always in the result.
std::vector<Layer> layers_in(const std::string& folder);
// The same for callers that must not miss a layer. Throws BloomgateError{cannot_open} if the folder cannot be read to
// its end.
std::vector<Layer> all_layers_in(const std::string& folder);

// The same for a folder that can be used: with at least one layer, not more than kMostLayers, and names that a header
// field can hold: at most kMaxLayerNameBytes letters, digits, dots, hyphens and underscores. Throws
// BloomgateError{cannot_open, bad_configuration} with the remedy.
std::vector<Layer> usable_layers_in(const std::string& folder);

// Any file `*.bloom` is a layer. So a slip such as /var/lib/bloomgate for /var/lib/bloomgate/layers would turn a
// whitelist of one file into a layer. Call it before a change of the folder. Throws BloomgateError{bad_argument} if the
// folder has a store, a folder `learned` or `lists`, or a folder of layers, and {cannot_open}.
void require_layers_alone(const std::string& folder);

}  // namespace bloomgate
