// The report on a filter that was made, as JSON.
#pragma once

#include <string>

#include "filter/base/json.hpp"
#include "filter/file/file_format.hpp"

namespace bloomgate::cli {

// Where it is, what it holds, and how often it is wrong.
Json made_filter_json(const std::string& path, const FilterHeader& header);

}  // namespace bloomgate::cli
