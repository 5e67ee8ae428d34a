// What is behind the opaque types of bloomgate.h.
#pragma once

#include <cstdint>
#include <string>

#include "filter/engine/builder.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/library/bloomgate.h"

struct bloomgate_shape {
  bloomgate::FilterShape shape = {};
  std::uint64_t expected_entries = 0;  // that it is sized for
  // What it is made of, where it is not that of a file.
  bloomgate::BuildOptions options = {};
};

struct bloomgate_filter {
  explicit bloomgate_filter(const std::string& path) : file(path) {}

  bloomgate::MappedFilter file;
  bloomgate_shape shape;
  std::string identity;
  std::string tag_separators;
};
