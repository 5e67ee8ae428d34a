// How `bloomgate info` and `rollback` tell one kept filter, or folder of layers, from another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include "filter/base/json.hpp"

namespace bloomgate::cli {

struct GenerationDescription {
  std::string path;
  std::time_t written = 0;  // a kept file has the time at which it was built
  std::uint64_t entries = 0;
  std::size_t layers = 0;  // of a folder
  std::string fault = {};  // why it cannot be used; empty if its header is good
};

// Reads the header, or that of each layer. Never throws for what is in the file. Throws std::bad_alloc.
GenerationDescription describe(const std::string& path);

// "whitelist.bloom.1: 1,000 entries, built 2026-11-21 10:15:00 UTC"; of a folder "layers.1: 1,000 entries in 2 layers,
// built ...", with the time of the newest one.
std::string generation_text(const GenerationDescription& generation);
Json generation_json(const GenerationDescription& generation);

}  // namespace bloomgate::cli
