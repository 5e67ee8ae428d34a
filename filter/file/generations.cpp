#include "filter/file/generations.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "filter/base/error.hpp"
#include "filter/hash/hash.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// A name that the next FilterWriter for `path` clears away if this process does not.
std::string temporary_name(const std::string& path) {
  const std::string name = "." + std::filesystem::path(path).filename().string() + ".tmp-";
  return folder_of(path) + "/" + name + std::to_string(random_seed());
}

BloomgateError keep_error(const std::string& path, int error) {
  const std::string what = "keep " + path + " under another name: " + std::generic_category().message(error);
  if (error == EPERM || error == EACCES) {
    return {ErrorCode::cannot_write,
            what +
                "; run this as root or as the owner of the file, on a file system with hard links, or build without "
                "--keep",
            {.path = path}};
  }
  return {ErrorCode::cannot_write, what, {.path = path}};
}

bool exists(const std::string& path) {
  return FileStamp::of_path(path).has_value();
}

void rename_kept(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) throw keep_error(from, errno);
}

// Where the next one goes in: the first number without a file, or the last one allowed.
unsigned free_number(const std::string& path, unsigned most) {
  unsigned number = 1;
  while (number < most && exists(generation_path(path, number))) ++number;
  return number;
}

}  // namespace

std::string generation_path(const std::string& path, unsigned number) {
  return path + "." + std::to_string(number);
}

std::vector<Generation> kept_generations(const std::string& path) {
  std::vector<Generation> found;
  struct stat of_path = {};
  const mode_t kind = stat(path.c_str(), &of_path) == 0 && S_ISDIR(of_path.st_mode) ? S_IFDIR : S_IFREG;
  for (unsigned number = 1; number <= kMostGenerations; ++number) {
    const std::string name = generation_path(path, number);
    struct stat status = {};
    if (stat(name.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == kind) found.push_back({number, name});
  }
  return found;
}

void require_can_keep(const std::string& path) {
  if (!exists(path)) return;
  const std::string temporary = temporary_name(path);
  if (link(path.c_str(), temporary.c_str()) != 0) throw keep_error(path, errno);
  unlink(temporary.c_str());
}

void keep_generation(const std::string& path, unsigned most) {
  const std::optional<FileStamp> now = FileStamp::of_path(path);
  if (!now || most == 0) return;
  for (const Generation& old : kept_generations(path)) {
    if (old.number > most && unlink(old.path.c_str()) != 0) throw keep_error(old.path, errno);
  }
  const std::string first = generation_path(path, 1);
  const std::optional<FileStamp> last = FileStamp::of_path(first);
  if (last && last->is_same_file(*now)) return;  // a build that was killed had come as far as this
  for (unsigned number = free_number(path, most); number > 1; --number) {
    rename_kept(generation_path(path, number - 1), generation_path(path, number));
  }
  const std::string temporary = temporary_name(path);
  if (link(path.c_str(), temporary.c_str()) != 0) throw keep_error(path, errno);
  if (rename(temporary.c_str(), first.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    throw keep_error(path, error);
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

void exchange_generation(const std::string& path, unsigned number) {
  const std::string generation = generation_path(path, number);
  if (!exists(generation)) {
    throw BloomgateError(ErrorCode::cannot_open,
                         generation + " is not there: that generation was not kept; 'bloomgate info " + path +
                             "' shows those that were, and 'bloomgate build --keep 2' keeps two from now on",
                         {.path = generation});
  }
  if (!exists(path)) {
    rename_kept(generation, path);
  } else if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, generation.c_str(), RENAME_EXCHANGE) != 0) {
    int error = errno;
    if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) error = exchange_by_links(path, generation);
    if (error != 0) throw keep_error(path, error);
  }
  sync_folder_or_throw(folder_of(path));
}

}  // namespace bloomgate
