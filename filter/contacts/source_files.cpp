#include "filter/contacts/source_files.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace bloomgate {

bool is_unsent(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (folder.filename() == "tmp" && std::filesystem::is_directory(folder.parent_path() / "cur", ignored)) return true;
  const std::string name = path.filename().string();
  const std::size_t flags = name.rfind(":2,");
  return folder.filename() == "cur" && flags != std::string::npos && name.find('D', flags) != std::string::npos;
}

SourceFiles::SourceFiles(const std::vector<std::string>& sources, const std::string& user,
                         const OwnerAddresses& addresses, const HarvestRules& rules) {
  std::vector<std::string> paths;
  std::vector<SourcePlace> places;
  std::map<std::string, Users> users_of;
  std::set<std::string> without_address;
  const auto add = [&](std::string path, Users users, bool is_found) {
    paths.push_back(std::move(path));
    places.push_back({users, is_found});
  };
  const auto find_users = [&](const std::string& owner) -> Users {
    const auto [known, is_new] = users_of.try_emplace(owner);
    if (!is_new) return known->second;
    std::vector<std::string> found = addresses.of(owner);
    if (found.empty()) without_address.insert(owner);
    if (!rules.needs_user) found = {found.empty() ? owner : found.front()};
    return known->second = users_.emplace_back(std::move(found));
  };
  for (const std::string& source : sources) {
    if (OwnerPattern::is_pattern(source)) {
      std::vector<OwnerPattern::Place> found = OwnerPattern(source).places();
      if (found.empty()) absent_.push_back(source);
      for (OwnerPattern::Place& place : found) {
        const Users users = find_users(place.owner);
        if (!users.empty()) add(std::move(place.path), users, true);
      }
    } else if (!user.empty()) {
      add(source, users_.emplace_back(std::vector{user}), false);
    } else {
      add(source, rules.needs_user ? Users() : Users(users_.emplace_back(std::vector{source})), false);
    }
  }
  owners_ = users_of.size();
  without_address_.assign(without_address.begin(), without_address.end());
  list(paths, places);
}

void SourceFiles::list(const std::vector<std::string>& paths, const std::vector<SourcePlace>& places) {
  const auto skip = [&](std::size_t source, const BloomgateError& error) {
    if (error.code() == ErrorCode::bad_input) {
      ++empty_folders_;
    } else if (places[source].is_found) {
      unreadable_.emplace_back(error.what());
    } else {
      throw error;
    }
  };
  std::set<std::tuple<const std::string*, dev_t, ino_t>> seen;
  for (TimedFile& file : files_by_time(paths, skip)) {
    SourcePlace place = places[file.source];
    const bool is_place_of_user = place.is_found;
    place.is_found = place.is_found || !file.named;
    if (place.is_found) {
      // A link in a folder may lead to another user's file, and reading a pipe would wait.
      struct stat status = {};
      const bool is_there = (file.named ? stat : lstat)(file.path.c_str(), &status) == 0;
      const bool is_file = is_there && S_ISREG(status.st_mode);
      if (is_place_of_user && file.named && !is_file) {
        unreadable_.push_back(file.path + " is not a file");
        continue;
      }
      // With many names for one large file, a user could make the program read it all night.
      const bool is_new = is_file && seen.emplace(place.users.data(), status.st_dev, status.st_ino).second;
      if ((is_there && !is_new) || is_unsent(file.path)) continue;
    }
    files_.push_back({std::move(file), place});
  }
}

std::uint64_t SourceFiles::total_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const SourceFile& each : files_) bytes += each.file.bytes;
  return bytes;
}

}  // namespace bloomgate
