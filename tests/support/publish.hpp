// Publishes a whitelist as the commands do that sign one: its manifest names what is there.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "filter/keep/layer_folder.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate::test {

struct PublishAs {
  std::uint64_t number = 1;
  std::string list = "whitelist";
  std::chrono::sys_seconds made = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::chrono::seconds holds = kManifestHolds;
  std::optional<PublicKey> next_key = {};
};

// Of a filter, or a folder of layers, with the list of what is revoked if there is one.
inline Manifest manifest_of(const std::string& whitelist, const PublishAs& as) {
  Manifest manifest = {.list = as.list,
                       .number = as.number,
                       .made = as.made,
                       .holds_until = as.made + as.holds,
                       .next_key = as.next_key};
  if (!is_folder(whitelist)) {
    manifest.files.push_back(describe_published(whitelist));
    return manifest;
  }
  for (const Layer& layer : layers_in(whitelist)) manifest.files.push_back(describe_published(layer.path));
  const std::string revoked = whitelist + "/" + std::string(kRevokedName);
  if (std::filesystem::exists(revoked)) manifest.files.push_back(describe_published(revoked));
  return manifest;
}

inline void publish(const std::string& whitelist, const SecretKey& key, const PublishAs& as = {}) {
  replace_file(manifest_path(whitelist), sign_manifest(manifest_of(whitelist, as), key), 0644);
}

}  // namespace bloomgate::test
