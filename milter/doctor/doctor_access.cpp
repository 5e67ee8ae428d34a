#include "milter/doctor/doctor_access.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace bloomgate {
namespace {

std::vector<gid_t> groups_of(const passwd& user) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (getgrouplist(user.pw_name, user.pw_gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    getgrouplist(user.pw_name, user.pw_gid, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

bool user_exists(const std::string& user) {
  return getpwnam(user.c_str()) != nullptr;
}

bool user_may(const std::string& user, const std::string& path, int mode) {
  const passwd* const known = getpwnam(user.c_str());
  if (known == nullptr) return false;
  const uid_t id = known->pw_uid;
  const std::vector<gid_t> groups = groups_of(*known);
  const auto may = [&](const std::filesystem::path& place, int wanted) {
    struct stat info = {};
    if (stat(place.c_str(), &info) != 0) return false;
    const unsigned shift = info.st_uid == id ? 6 : std::ranges::count(groups, info.st_gid) != 0 ? 3 : 0;
    return id == 0 || ((info.st_mode >> shift) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
  };
  const std::filesystem::path whole = std::filesystem::absolute(path);
  for (std::filesystem::path folder = whole.parent_path();; folder = folder.parent_path()) {
    if (!may(folder, X_OK)) return false;
    if (folder == folder.root_path()) break;
  }
  return may(whole, mode);
}

}  // namespace bloomgate
