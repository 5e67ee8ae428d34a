// A whitelist in layers: a folder of filter files, whose name ends in `.bloom`. A sender is listed where any of them
// lists him. Used by the daemon, which loads all of them together, and by the commands that make and show layers.
//
// What has another name is no layer: hidden files, such as a layer that is being written (new_file.hpp) or copied by
// rsync, kept generations (`0001.bloom.1`), stores. Earlier states of the folder are kept beside it (generations.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

inline constexpr std::size_t kMostLayers = 64;
inline constexpr std::size_t kMaxLayerNameBytes = 63;
inline constexpr std::string_view kLayerSuffix = ".bloom";

// Whether a file of that name in a folder of layers is one of them.
bool is_layer_name(std::string_view file_name) noexcept;

// Letters, digits, dots, hyphens and underscores alone.
bool is_plain_name(std::string_view name) noexcept;

// Whether there is a folder at `path`, or at the end of its links.
bool is_folder(const std::string& path) noexcept;

// A layer: its path, and its name without the suffix.
struct Layer {
  std::string path;
  std::string name;
  friend bool operator==(const Layer&, const Layer&) = default;
};

// The layers of a folder, in the order of their names; nothing is checked. None where the folder cannot be read. While
// others put layers in and take them out, one that is there all the time is never left out.
std::vector<Layer> layers_in(const std::string& folder);
// The same, for whoever must not miss one. Throws BloomgateError{cannot_open} where the folder cannot be read to its
// end.
std::vector<Layer> all_layers_in(const std::string& folder);

// The same, of a folder that can be used: with at least one layer, not more than kMostLayers, and names that can stand
// in a header field: at most kMaxLayerNameBytes letters, digits, dots, hyphens and underscores. Throws
// BloomgateError{cannot_open, bad_configuration} with the remedy.
std::vector<Layer> usable_layers_in(const std::string& folder);

}  // namespace bloomgate
