#include "milter/lists/file_watch.hpp"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_paths.hpp"
#include "milter/lists/inotify_events.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kChangesOfFolder =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB;
// The folder itself: its path means another folder from then on.
constexpr std::uint32_t kFolder = IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED;

}  // namespace

FileWatch::FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)) {
  if (paths_.empty()) return;
  inotify_ = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_.is_open()) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot watch the lists (inotify): " + std::generic_category().message(errno));
  }
  refresh();
}

bool FileWatch::take_events() {
  bool changed = false;
  for_each_inotify_event(inotify_.get(), [&](const inotify_event& event, const char* name) {
    const auto watched = watched_.find(event.wd);
    const auto is_about_ours = [&](const Watched& folder) {
      return event.len != 0 && (folder.names.contains(name) || (folder.layers && is_layer_name(name)));
    };
    const bool ours = watched != watched_.end() && ((event.mask & kFolder) != 0 || is_about_ours(watched->second));
    changed = changed || ours || (event.mask & IN_Q_OVERFLOW) != 0;
  });
  return changed;
}

std::vector<std::string> FileWatch::refresh() {
  std::vector<std::string> failed;
  if (!paths_.empty() && !inotify_.is_open()) inotify_ = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const auto old = std::exchange(watched_, {});
  for (const std::string& path : paths_) {
    watch(path, failed);
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    if (!error && target != std::filesystem::path(path)) watch(target.string(), failed);
  }
  for (const auto& [number, folder] : old) {
    if (!watched_.contains(number)) inotify_rm_watch(inotify_.get(), number);  // for a folder that was moved away
  }
  return failed;
}

std::vector<std::string> FileWatch::watch_instead(std::vector<std::string> paths) {
  paths_ = std::move(paths);
  return refresh();
}

FileWatch::Watched* FileWatch::watch_folder(const std::string& folder, std::vector<std::string>& failed) {
  const int number =
      inotify_add_watch(inotify_.get(), folder.c_str(), kChangesOfFolder | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
  if (number < 0) {
    failed.push_back(folder);
    return nullptr;
  }
  return &watched_[number];
}

void FileWatch::watch(const std::string& path, std::vector<std::string>& failed) {
  if (Watched* const folder = watch_folder(folder_of(path), failed)) {
    folder->names.insert(std::filesystem::path(path).filename().string());
  }
  if (!is_folder(path)) return;
  if (Watched* const layers = watch_folder(path, failed)) layers->layers = true;
}

}  // namespace bloomgate
