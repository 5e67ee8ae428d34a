#include "filter/keep/kept_folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/generations.hpp"
#include "filter/hash/hash.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

BloomgateError keep_layers_error(const std::string& folder, int error) {
  const std::string what = "keep the layers of " + folder + " beside it: " + std::generic_category().message(error);
  if (error == EXDEV || error == EPERM || error == EACCES || error == EROFS || error == EBUSY) {
    return {ErrorCode::cannot_write,
            what + "; run this as root, on a folder whose parent is on the same file system, or without --keep",
            {.path = folder}};
  }
  return {ErrorCode::cannot_write, what, {.path = folder}};
}

void move_layers(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) throw keep_layers_error(from, errno);
}

// What may be removed, or moved as a whole: layers, and what a writer that was killed has left.
void require_only_layers(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_layer_name(name) || name.front() == '.') continue;
    throw BloomgateError(
        ErrorCode::bad_input,
        printable(at->path().string()) + " is no layer, and would go with the folder; put it elsewhere, and try again",
        {.path = at->path().string()});
  }
  if (error) throw system_error(ErrorCode::cannot_open, "read the folder", folder, error.value());
}

std::string hidden_prefix(const std::string& folder) {
  return "." + std::filesystem::path(folder).filename().string() + ".kept-";
}

std::string hidden_name(const std::string& folder) {
  return folder_of(folder) + "/" + hidden_prefix(folder) + std::to_string(random_seed());
}

void remove_whole(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw system_error(ErrorCode::cannot_write, "remove", path, error.value());
}

// Under another name first: a kept folder from which some layers are gone must not be put back.
void discard(const std::string& folder, unsigned number) {
  const std::string kept = generation_path(folder, number);
  if (!is_folder(kept)) return;
  require_only_layers(kept);
  const std::string hidden = hidden_name(folder);
  move_layers(kept, hidden);
  remove_whole(hidden);
}

// Of commands that were killed.
void remove_leftovers(const std::string& folder) {
  const std::string prefix = hidden_prefix(folder);
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator at(folder_of(folder), error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_ours = name.size() > prefix.size() && name.starts_with(prefix) &&
                         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (is_ours) found.push_back(at->path().string());
  }
  for (const std::string& path : found) remove_whole(path);
}

// Gives it the owner and mode of the folder, and further names of its layers.
void fill_copy(const std::string& copy, const std::string& folder, const std::vector<Layer>& layers) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) throw keep_layers_error(folder, errno);
  if (chown(copy.c_str(), status.st_uid, status.st_gid) != 0 && status.st_uid != geteuid()) {
    throw keep_layers_error(folder, errno);
  }
  if (chmod(copy.c_str(), status.st_mode & 07777) != 0) throw keep_layers_error(folder, errno);
  for (const Layer& layer : layers) {
    const std::string name = std::filesystem::path(layer.path).filename().string();
    if (link(layer.path.c_str(), (copy + "/" + name).c_str()) != 0) throw keep_layers_error(folder, errno);
  }
  sync_folder_or_throw(copy);
}

std::string linked_copy(const std::string& folder, const std::vector<Layer>& layers) {
  std::string copy = hidden_name(folder);
  if (mkdir(copy.c_str(), 0700) != 0) throw keep_layers_error(folder, errno);
  try {
    fill_copy(copy, folder, layers);
  } catch (...) {
    remove_leftovers(folder);
    throw;
  }
  return copy;
}

bool have_same_layers(const std::string& a, const std::string& b) {
  const std::vector<Layer> ours = all_layers_in(a);
  const std::vector<Layer> theirs = all_layers_in(b);
  if (ours.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto one = FileStamp::of_path(ours[i].path);
    const auto other = FileStamp::of_path(theirs[i].path);
    if (ours[i].name != theirs[i].name || !one || !other || !one->is_same_file(*other)) return false;
  }
  return true;
}

}  // namespace

std::string own_path_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) throw system_error(ErrorCode::cannot_open, "open the folder", folder, error.value());
  return path.string();
}

void keep_layers(const std::string& folder, unsigned most) {
  const std::vector<Layer> layers = all_layers_in(folder);
  if (most == 0 || layers.empty()) return;
  remove_leftovers(folder);
  drop_unchanged_folder(folder);
  const std::string copy = linked_copy(folder, layers);
  unsigned number = 1;
  while (number <= most && is_folder(generation_path(folder, number))) ++number;
  discard(folder, number);
  for (; number > 1; --number) move_layers(generation_path(folder, number - 1), generation_path(folder, number));
  move_layers(copy, generation_path(folder, 1));
  sync_folder_or_throw(folder_of(folder));
}

void trim_kept_folders(const std::string& folder, unsigned most) {
  for (unsigned number = most + 1; number <= kMostGenerations + 1; ++number) discard(folder, number);
}

void drop_unchanged_folder(const std::string& folder) {
  while (is_folder(generation_path(folder, 1)) && have_same_layers(folder, generation_path(folder, 1))) {
    discard(folder, 1);
    for (unsigned number = 2; is_folder(generation_path(folder, number)); ++number) {
      move_layers(generation_path(folder, number), generation_path(folder, number - 1));
    }
  }
}

void exchange_kept_folder(const std::string& folder, unsigned number) {
  const std::string kept = generation_path(folder, number);
  if (!is_folder(kept)) {
    throw BloomgateError(ErrorCode::cannot_open,
                         kept + " is not there: those layers were not kept; 'bloomgate info " + folder +
                             "' shows those that were, and 'bloomgate append --keep 2' and 'fold --keep 2' keep two "
                             "states from now on",
                         {.path = kept});
  }
  require_only_layers(folder);
  require_only_layers(kept);
  if (renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, kept.c_str(), RENAME_EXCHANGE) != 0) {
    const BloomgateError error = system_error(ErrorCode::cannot_write, "exchange " + kept + " with", folder, errno);
    throw BloomgateError(ErrorCode::cannot_write,
                         std::string(error.what()) + "; put the layers of " + kept + " into " + folder +
                             " by hand: copy first, and then remove those that have to go",
                         {.path = folder});
  }
  sync_folder_or_throw(folder_of(folder));
}

}  // namespace bloomgate
