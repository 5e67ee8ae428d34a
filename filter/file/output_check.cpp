#include "filter/file/output_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "filter/base/shell_word.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Nothing if the file system does not report its size.
std::optional<std::uint64_t> free_bytes(const std::string& folder) noexcept {
  struct statvfs status = {};
  if (statvfs(folder.c_str(), &status) != 0 || status.f_blocks == 0) return std::nullopt;
  return status.f_bavail * status.f_frsize;
}

BloomgateError space_error(const std::string& folder, const std::string& path, std::uint64_t bytes, int error) {
  const std::optional<std::uint64_t> free = free_bytes(folder);
  return {ErrorCode::cannot_write,
          "the filter will take " + std::to_string((bytes + kMiB - 1) / kMiB) +
              " MiB, and there is no room for it beside " + path + ": " + std::generic_category().message(error) +
              (free ? ", " + std::to_string(*free / kMiB) + " MiB are free" : std::string()) + "; make room in " +
              folder + ", put it elsewhere (--output), or take fewer --bits-per-entry",
          {.path = path}};
}

// A slip in the name of the output must not overwrite another file. If the file cannot be read, the writer decides.
void require_own_file(const std::string& path, std::uint64_t bytes, const Magic& own) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Magic start = {};
  const std::span<std::byte> there = room_for_start(start, bytes);
  if (there.empty() || !file.is_open() || read_at(file.get(), there, 0) != 0) return;
  if (start == own) return;
  if (const std::string_view kind = own_kind(there); !kind.empty()) {
    const std::string wanted(own_kind(std::as_bytes(std::span(own))));
    throw BloomgateError(ErrorCode::cannot_write,
                         path + " is " + std::string(kind) + ", which " + wanted +
                             " would replace; name another file, or remove that one first",
                         {.path = path});
  }
  throw BloomgateError(ErrorCode::cannot_write,
                       path + " is neither a filter nor a store; name another output, or remove that file first",
                       {.path = path});
}

BloomgateError name_missing_error(const std::string& path, const Magic& own) {
  const std::string name = own == kStoreMagic ? "whitelist.store" : "whitelist.bloom";
  return {ErrorCode::not_a_regular_file,
          path + " is a folder, and the name of the file is missing; add it, such as " +
              (std::filesystem::path(path) / name).string(),
          {.path = path}};
}

}  // namespace

bool surely_lacks_room(const std::string& folder, std::uint64_t bytes) noexcept {
  const std::optional<std::uint64_t> free = free_bytes(folder);
  return free && bytes > *free;
}

void require_scratch(const std::string& folder) {
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw folder_error(folder, folder + " (--scratch)", errno);
}

BloomgateError folder_error(const std::string& folder, const std::string& path, int error) {
  const std::string what = "cannot write " + path + ": ";
  const std::string why = std::generic_category().message(error);
  if (error == ENOENT) {
    return {ErrorCode::cannot_write,
            what + "its folder is not there; make it: mkdir -p " + shell_word(folder, "FOLDER"),
            {.path = path}};
  }
  if (error == EACCES || error == EPERM) {
    return {ErrorCode::cannot_write,
            what + "you may not write to the folder " + folder + " (" + why +
                "); run this as root, or as the owner of that folder",
            {.path = path}};
  }
  return {ErrorCode::cannot_write, what + why + ", in the folder " + folder, {.path = path}};
}

std::string resolve_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) throw system_error(ErrorCode::cannot_write, "follow the link", path, error.value());
  return target.string();
}

void require_may_replace(const std::string& path, const Magic& own) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (path.ends_with('/')) throw name_missing_error(path, own);
    return;
  }
  if (S_ISDIR(status.st_mode)) throw name_missing_error(path, own);
  if (!S_ISREG(status.st_mode)) {
    throw BloomgateError(ErrorCode::not_a_regular_file,
                         path + " exists and is not a regular file; name a file for the filter", {.path = path});
  }
  require_own_file(path, static_cast<std::uint64_t>(status.st_size), own);
}

void require_own_text(const std::string& path, IsOwnText is_own, const std::string& content,
                      const std::string& option) {
  constexpr std::size_t kStartBytes = 8192;  // more than a line with a path
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string start(std::min(kStartBytes, static_cast<std::size_t>(status.st_size)), '\0');
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(start));
  if (const int error = file.is_open() ? read_at(file.get(), bytes, 0) : errno; error != 0) {
    throw system_error(ErrorCode::cannot_write, "see whether " + content + " may replace", path, error);
  }
  if (is_own(start)) return;
  const std::string_view kind = own_kind(bytes);
  throw BloomgateError(ErrorCode::cannot_write,
                       path + (kind.empty() ? " has other content" : " is " + std::string(kind)) + ", which " +
                           content + " would replace; name another file with " + option,
                       {.path = path});
}

void require_can_write(const std::string& path, std::uint64_t bytes, const Magic& own) {
  if (path == "-") {
    throw BloomgateError(ErrorCode::bad_argument, "a filter or a store cannot go to standard output; name a file");
  }
  const std::string target = resolve_link(path);
  require_may_replace(target, own);
  const std::string folder = folder_of(target);
  const FileDescriptor file = unnamed_file(folder);
  if (!file.is_open()) throw folder_error(folder, target, errno);
  if (surely_lacks_room(folder, bytes)) throw space_error(folder, target, bytes, ENOSPC);
  // Not posix_fallocate(3), which writes zeros to the whole file if the file system cannot reserve space.
  if (bytes == 0 || fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) throw space_error(folder, target, bytes, errno);
}

}  // namespace bloomgate
