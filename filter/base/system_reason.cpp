#include "filter/base/system_reason.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace bloomgate {
namespace {

// The user that this process runs as: "nobody", or its number.
std::string user_name() {
  std::array<char, 4096> buffer;
  passwd entry = {};
  passwd* found = nullptr;
  const uid_t user = geteuid();
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::to_string(user);
  }
  return entry.pw_name;
}

// The first folder on the way to `path` for which `is_bad` holds; empty: there is none.
template <typename IsBad>
std::string first_folder(const std::string& path, IsBad is_bad) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    std::string folder = path.substr(0, end);
    if (is_bad(folder.c_str())) return folder;
  }
  return {};
}

std::string target_of(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t bytes = readlink(path.c_str(), target.data(), target.size());
  return bytes < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(bytes));
}

// What the system's message leaves open: which part of the path is to blame, and for whom. Empty where nothing is.
std::string blamed_part(ErrorCode code, const std::string& path, int errno_value) {
  struct stat status = {};
  if (errno_value == EACCES) {
    const std::string folder =
        first_folder(path, [](const char* each) { return faccessat(AT_FDCWD, each, X_OK, AT_EACCESS) != 0; });
    const std::string act = code == ErrorCode::cannot_write ? "write" : "read";
    return "; the user " + user_name() + " may not " + (folder.empty() ? act + " it" : "enter the folder " + folder);
  }
  if (errno_value == ENOSPC || errno_value == EDQUOT) return "; make room there, or name another place";
  if (errno_value != ENOENT && errno_value != ENOTDIR) return {};
  const std::string folder =
      first_folder(path, [&](const char* each) { return stat(each, &status) != 0 || !S_ISDIR(status.st_mode); });
  if (!folder.empty()) return (errno_value == ENOENT ? "; there is no folder " : "; it is no folder: ") + folder;
  if (errno_value == ENOTDIR) return "; name a folder";
  const std::string target = target_of(path);
  return target.empty() ? std::string() : "; it is a link to " + target + ", which is not there";
}

}  // namespace

std::string system_reason(ErrorCode code, const std::string& path, int errno_value) {
  return std::generic_category().message(errno_value) + blamed_part(code, path, errno_value);
}

}  // namespace bloomgate
