// The structure behind the opaque type of bloomgate.h.
#pragma once

#include <string>

#include "filter/file/mapped_filter.hpp"
#include "filter/library/bloomgate.h"

struct bloomgate_filter {
  explicit bloomgate_filter(const std::string& path) : file(path) {}

  bloomgate::MappedFilter file;
  std::string identity;
  std::string tag_separators;
};
