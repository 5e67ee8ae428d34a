// What is behind the opaque types of bloomgate.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filter/build/builder.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/library/bloomgate.h"

struct bloomgate_shape {
  bloomgate::FilterShape shape = {};
  // What it is made of, where it is not that of a file.
  bloomgate::BuildOptions options = {};
  std::optional<std::uint32_t> hashes = {};  // that were asked for; else the best
};

struct bloomgate_filter {
  explicit bloomgate_filter(const std::string& path) : file(path) {}

  bloomgate::MappedFilter file;
  bloomgate_shape shape;
  std::string identity;
  std::string tag_separators;
};
