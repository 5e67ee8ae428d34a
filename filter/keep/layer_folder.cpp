#include "filter/keep/layer_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"

namespace bloomgate {
namespace {

std::vector<Layer> read_layers(const std::string& folder, std::error_code& error) {
  std::vector<Layer> layers;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_layer_name(name)) {
      layers.push_back(
          {(std::filesystem::path(folder) / name).string(), name.substr(0, name.size() - kLayerSuffix.size())});
    }
  }
  std::ranges::sort(layers, {}, &Layer::name);
  return layers;
}

// What is beside a whitelist of one file, or beside a folder of layers, but not in such a folder.
bool is_of_data_folder(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code ignored;
  if (!entry.is_directory(ignored)) return name.ends_with(".store") && name.front() != '.';
  return name == "learned" || name == "lists" || (name.front() != '.' && !layers_in(entry.path().string()).empty());
}

}  // namespace

bool is_layer_name(std::string_view file_name) noexcept {
  return file_name.size() > kLayerSuffix.size() && file_name.ends_with(kLayerSuffix) && file_name.front() != '.';
}

bool is_plain_name(std::string_view name) noexcept {
  return std::ranges::all_of(name, [](char character) {
    return ascii::is_letter_or_digit(character) || character == '.' || character == '-' || character == '_';
  });
}

bool is_folder(const std::string& path) noexcept {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::vector<Layer> layers_in(const std::string& folder) {
  std::error_code ignored;
  return read_layers(folder, ignored);
}

std::vector<Layer> all_layers_in(const std::string& folder) {
  std::error_code error;
  std::vector<Layer> layers = read_layers(folder, error);
  if (error) throw system_error(ErrorCode::cannot_open, "read the folder", folder, error.value());
  return layers;
}

std::vector<Layer> usable_layers_in(const std::string& folder) {
  std::vector<Layer> layers = all_layers_in(folder);
  if (layers.empty()) {
    throw BloomgateError(ErrorCode::bad_configuration,
                         folder + " is a folder without a layer, a file whose name ends in " +
                             std::string(kLayerSuffix) + "; make one: bloomgate add-layer " +
                             shell_word(folder, "FOLDER") + " LIST...",
                         {.path = folder});
  }
  if (layers.size() > kMostLayers) {
    throw BloomgateError(
        ErrorCode::bad_configuration,
        folder + " has " + std::to_string(layers.size()) + " layers, but a whitelist has at most " +
            std::to_string(kMostLayers) + "; make one of them (bloomgate fold-layers), or remove old ones",
        {.path = folder, .expected = std::to_string(kMostLayers), .got = std::to_string(layers.size())});
  }
  for (const Layer& layer : layers) {
    if (layer.name.size() <= kMaxLayerNameBytes && is_plain_name(layer.name)) continue;
    throw BloomgateError(ErrorCode::bad_configuration,
                         printable(layer.path) +
                             " has a name that cannot stand in a header field: rename it to at most " +
                             std::to_string(kMaxLayerNameBytes) +
                             " letters, digits, dots, hyphens and underscores before " + std::string(kLayerSuffix),
                         {.path = layer.path});
  }
  return layers;
}

void require_layers_alone(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> others;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (is_of_data_folder(*at)) others.push_back(at->path().filename().string());
  }
  if (error) throw system_error(ErrorCode::cannot_open, "read the folder", folder, error.value());
  if (others.empty()) return;
  std::ranges::sort(others);
  const std::filesystem::path path(folder);
  const auto has_layers = [&](const std::string& name) { return !layers_in((path / name).string()).empty(); };
  const auto meant = std::ranges::find_if(others, has_layers);
  throw BloomgateError(ErrorCode::bad_argument,
                       printable((path / others.front()).string()) + " shows that " + printable(folder) +
                           " is no folder of layers; name one that has only layers, such as " +
                           printable((path / (meant == others.end() ? "layers" : *meant)).string()),
                       {.path = folder});
}

}  // namespace bloomgate
