#include "filter/ingest/input_files.hpp"

#include <algorithm>
#include <filesystem>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (std::error_code ignored; at->is_regular_file(ignored)) {
      files.push_back(at->path().native());
    }
  }
  if (error) throw system_error(ErrorCode::cannot_open, "look into the folder", folder, error.value());
  if (files.empty()) {
    throw BloomgateError(ErrorCode::bad_input, "the folder " + folder + " holds no file; name one that holds lists",
                         {.path = folder});
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<std::string> list_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input != "-" && fs::is_directory(input, error)) {
      std::ranges::move(files_below(input), std::back_inserter(files));
    } else {
      files.push_back(input);
    }
  }
  return files;
}

}  // namespace bloomgate
