#include "filter/keep/generations.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/file/output_check.hpp"
#include "filter/hash/hash.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// If this process does not remove the temporary name, the next FilterWriter for `path` does, or for a folder,
// remove_leftovers().
std::string temporary_prefix(const std::string& path) {
  return hidden_prefix(path, is_folder(path) ? ".kept-" : ".tmp-");
}

std::string temporary_name(const std::string& path) {
  return folder_of(path) + "/" + temporary_prefix(path) + std::to_string(random_seed());
}

BloomgateError keep_error(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  const bool is_refused = error == EPERM || error == EACCES;
  std::string what;
  if (is_folder(path)) {
    what = "keep the layers of " + path + " beside it: " + reason;
    if (is_refused || error == EXDEV || error == EROFS || error == EBUSY) {
      what += "; run this as root, on a folder whose parent is on the same file system, or without --keep";
    }
  } else {
    what = "keep " + path + " under another name: " + reason;
    if (is_refused) {
      what +=
          "; run this as root or as the owner of the file, on a file system with hard links, or build without --keep";
    }
  }
  return {ErrorCode::cannot_write, what, {.path = path}};
}

bool exists(const std::string& path) {
  return FileStamp::of_path(path).has_value();
}

bool is_kept(const std::string& path, unsigned number) {
  const std::string generation = generation_path(path, number);
  return is_folder(path) ? is_folder(generation) : exists(generation);
}

void rename_kept(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) throw keep_error(from, errno);
}

// The number for the next generation: the first free one, or the last one allowed.
unsigned free_number(const std::string& path, unsigned last) {
  unsigned number = 1;
  while (number < last && is_kept(path, number)) ++number;
  return number;
}

// Increments the numbers of the generations before `number`, so that number 1 is free.
void move_on_to(const std::string& path, unsigned number) {
  for (; number > 1; --number) rename_kept(generation_path(path, number - 1), generation_path(path, number));
}

// The manifests of the folder, and of a layer that was built or signed by itself; and the list of revoked senders.
bool is_of_layers(std::string_view name) {
  constexpr std::string_view kManifestSuffix = ".manifest";
  const bool is_of_one =
      name.ends_with(kManifestSuffix) && is_layer_name(name.substr(0, name.size() - kManifestSuffix.size()));
  return is_layer_name(name) || name == kManifestName || name == kRevokedName || is_of_one;
}

// The folder may be removed, or moved as a whole, only if it has nothing but layers, the files that belong to them, and
// what a killed writer has left.
void require_only_layers(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_of_layers(name) || name.front() == '.') continue;
    throw BloomgateError(
        ErrorCode::bad_input,
        printable(at->path().string()) + " is no layer, and would go with the folder; put it elsewhere, and try again",
        {.path = at->path().string()});
  }
  if (error) throw system_error(ErrorCode::cannot_open, "read the folder", folder, error.value());
}

void remove_whole(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw system_error(ErrorCode::cannot_write, "remove", path, error.value());
}

// Call it before a change that keeps the layers, which then removes generations past `most`: a refusal must come before
// the change, not after it. If there are layers, those before it move on by one, up to the first gap.
void require_may_trim(const std::string& folder, unsigned most, bool has_layers) {
  const bool moves_last = has_layers && free_number(folder, most + 1) > most;
  for (unsigned number = moves_last ? most : most + 1; number <= kMostGenerations + 1; ++number) {
    if (is_kept(folder, number)) require_only_layers(generation_path(folder, number));
  }
}

// It gets another name first: a kept folder without some of its layers must not be restored.
void discard(const std::string& folder, unsigned number) {
  if (!is_kept(folder, number)) return;
  const std::string kept = generation_path(folder, number);
  require_only_layers(kept);
  const std::string hidden = temporary_name(folder);
  rename_kept(kept, hidden);
  remove_whole(hidden);
}

// Removes what killed commands have left.
void remove_leftovers(const std::string& folder) {
  for (const std::string& path : numbered_files(folder_of(folder), temporary_prefix(folder))) remove_whole(path);
}

// Gives a file in `from`, if it is there, a further name in `to`.
void link_if_there(const std::string& from, const std::string& to, std::string_view name) {
  const std::string path = from + "/" + std::string(name);
  if (!exists(path)) return;
  if (link(path.c_str(), (to + "/" + std::string(name)).c_str()) != 0) throw keep_error(from, errno);
}

// Gives the copy the owner and mode of the folder, and further names of its layers and of the files that belong to
// them.
void fill_copy(const std::string& copy, const std::string& folder, const std::vector<Layer>& layers) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) throw keep_error(folder, errno);
  if (chown(copy.c_str(), status.st_uid, status.st_gid) != 0 && status.st_uid != geteuid()) {
    throw keep_error(folder, errno);
  }
  if (chmod(copy.c_str(), status.st_mode & 07777) != 0) throw keep_error(folder, errno);
  for (const Layer& layer : layers) {
    const std::string name = std::filesystem::path(layer.path).filename().string();
    if (link(layer.path.c_str(), (copy + "/" + name).c_str()) != 0) throw keep_error(folder, errno);
  }
  for (const std::string_view name : {kManifestName, kRevokedName}) link_if_there(folder, copy, name);
  sync_folder_or_throw(copy);
}

std::string linked_copy(const std::string& folder, const std::vector<Layer>& layers) {
  std::string copy = temporary_name(folder);
  if (mkdir(copy.c_str(), 0700) != 0) throw keep_error(folder, errno);
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

void keep_folder(const std::string& folder, unsigned most) {
  const std::vector<Layer> layers = all_layers_in(folder);
  if (layers.empty()) return require_may_trim(folder, most, false);
  remove_leftovers(folder);
  drop_unchanged_generation(folder);
  require_may_trim(folder, most, true);
  const std::string copy = linked_copy(folder, layers);
  const unsigned number = free_number(folder, most + 1);
  discard(folder, number);
  move_on_to(folder, number);
  rename_kept(copy, generation_path(folder, 1));
  sync_folder_or_throw(folder_of(folder));
}

void keep_file(const std::string& path, const FileStamp& now, unsigned most) {
  for (const Generation& old : kept_generations(path)) {
    if (old.number > most && unlink(old.path.c_str()) != 0) throw keep_error(old.path, errno);
  }
  const std::string first = generation_path(path, 1);
  const std::optional<FileStamp> last = FileStamp::of_path(first);
  if (last && last->is_same_file(now)) return;  // a killed build had already done this
  move_on_to(path, free_number(path, most));
  const std::string temporary = temporary_name(path);
  if (link(path.c_str(), temporary.c_str()) != 0) throw keep_error(path, errno);
  if (rename(temporary.c_str(), first.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    throw keep_error(path, error);
  }
}

void require_kept(const std::string& path, unsigned number) {
  if (is_kept(path, number)) return;
  const std::string generation = generation_path(path, number);
  const bool has_layers = is_folder(path);
  throw BloomgateError(ErrorCode::cannot_open,
                       generation + " is not there: " + (has_layers ? "those layers were" : "that generation was") +
                           " not kept; 'bloomgate info " + shell_word(path, has_layers ? "FOLDER" : "FILE") +
                           "' shows those that were, and " +
                           (has_layers ? "'bloomgate add-layer --keep 2' and 'fold-layers --keep 2' keep two states"
                                       : "'bloomgate build --keep 2' keeps two") +
                           " from now on",
                       {.path = generation});
}

int exchange_in_one_step(const std::string& a, const std::string& b) {
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
}

// Revoked senders stay revoked, whichever layers are restored.
void put_revoked_into(const std::string& folder, const std::string& kept) {
  const std::string now = folder + "/" + std::string(kRevokedName);
  const std::string there = kept + "/" + std::string(kRevokedName);
  if (is_same_file(now, there)) return;
  if (exists(now)) {
    const std::string temporary = kept + "/." + std::string(kRevokedName) + ".new";
    unlink(temporary.c_str());
    if (link(now.c_str(), temporary.c_str()) != 0) throw keep_error(folder, errno);
    rename_kept(temporary, there);
  } else if (!exists(there)) {
    return;
  } else if (unlink(there.c_str()) != 0) {
    throw system_error(ErrorCode::cannot_write, "remove", there, errno);
  }
  sync_folder_or_throw(kept);
}

void exchange_folders(const std::string& folder, const std::string& kept) {
  require_only_layers(folder);
  require_only_layers(kept);
  put_revoked_into(folder, kept);
  const int error = exchange_in_one_step(folder, kept);
  if (error == 0) return;
  throw BloomgateError(
      ErrorCode::cannot_write,
      std::string(system_error(ErrorCode::cannot_write, "exchange " + kept + " with", folder, error).what()) +
          "; put the layers of " + kept + " into " + folder +
          " by hand: copy first, and then remove those that have to go",
      {.path = folder});
}

void exchange_files(const std::string& path, const std::string& generation) {
  if (!exists(path)) return rename_kept(generation, path);
  int error = exchange_in_one_step(path, generation);
  if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) error = exchange_by_links(path, generation);
  if (error != 0) throw keep_error(path, error);
}

}  // namespace

std::string generation_path(const std::string& path, unsigned number) {
  return path + "." + std::to_string(number);
}

std::string own_path_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) throw system_error(ErrorCode::cannot_open, "open the folder", folder, error.value());
  return path.string();
}

std::vector<Generation> kept_generations(const std::string& path) {
  std::vector<Generation> found;
  const mode_t kind = is_folder(path) ? S_IFDIR : S_IFREG;
  for (unsigned number = 1; number <= kMostGenerations; ++number) {
    const std::string name = generation_path(path, number);
    struct stat status = {};
    if (stat(name.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == kind) found.push_back({number, name});
  }
  return found;
}

void require_can_keep(const std::string& path, unsigned most, const Magic& own) {
  if (!exists(path)) return;
  // Those that move on, and those past `most`, which are removed.
  for (unsigned number = 1; number <= kMostGenerations; ++number) {
    const std::string generation = generation_path(path, number);
    if (number <= most || !is_folder(generation)) require_may_replace(generation, own);
  }
  const std::string temporary = temporary_name(path);
  if (link(path.c_str(), temporary.c_str()) != 0) throw keep_error(path, errno);
  unlink(temporary.c_str());
}

void keep_generation(const std::string& path, unsigned most) {
  const std::optional<FileStamp> now = FileStamp::of_path(path);
  if (!now || most == 0) return;
  is_folder(path) ? keep_folder(path, most) : keep_file(path, *now, most);
}

std::function<void(const std::string& path)> keeping(unsigned most) {
  return [most](const std::string& path) { keep_generation(path, most); };
}

void trim_generations(const std::string& folder, unsigned most) {
  for (unsigned number = most + 1; number <= kMostGenerations + 1; ++number) discard(folder, number);
}

void drop_unchanged_generation(const std::string& folder) {
  while (is_kept(folder, 1) && have_same_layers(folder, generation_path(folder, 1))) {
    discard(folder, 1);
    for (unsigned number = 2; is_kept(folder, number); ++number) {
      rename_kept(generation_path(folder, number), generation_path(folder, number - 1));
    }
  }
}

int exchange_by_links(const std::string& a, const std::string& b) {
  const std::string temporary = temporary_name(a);
  if (link(a.c_str(), temporary.c_str()) != 0) return errno;
  if (rename(b.c_str(), a.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    return error;
  }
  return rename(temporary.c_str(), b.c_str()) == 0 ? 0 : errno;
}

void bring_revoked(const std::string& folder, unsigned number) {
  require_kept(folder, number);
  for (const std::string& each : {folder, generation_path(folder, number)}) require_only_layers(each);
  put_revoked_into(folder, generation_path(folder, number));
}

void exchange_generation(const std::string& path, unsigned number) {
  require_kept(path, number);
  (is_folder(path) ? exchange_folders : exchange_files)(path, generation_path(path, number));
  sync_folder_or_throw(folder_of(path));
}

}  // namespace bloomgate
