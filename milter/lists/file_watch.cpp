#include "milter/lists/file_watch.hpp"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/file_paths.hpp"
#include "milter/lists/inotify_events.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB;
// The folder itself: its path leads elsewhere from then on.
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
    const auto names = names_.find(event.wd);
    const bool is_watched = names != names_.end();
    const bool ours = is_watched && ((event.mask & kFolder) != 0 || (event.len != 0 && names->second.contains(name)));
    changed = changed || ours || (event.mask & IN_Q_OVERFLOW) != 0;
  });
  return changed;
}

std::vector<std::string> FileWatch::refresh() {
  std::vector<std::string> failed;
  if (!paths_.empty() && !inotify_.is_open()) inotify_ = FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const auto old = std::exchange(names_, {});
  for (const std::string& path : paths_) {
    watch(path, failed);
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    if (!error && target != std::filesystem::path(path)) watch(target.string(), failed);
  }
  for (const auto& [number, names] : old) {
    if (!names_.contains(number)) inotify_rm_watch(inotify_.get(), number);  // of a folder that was moved away
  }
  return failed;
}

std::vector<std::string> FileWatch::watch_instead(std::vector<std::string> paths) {
  paths_ = std::move(paths);
  return refresh();
}

void FileWatch::watch(const std::string& path, std::vector<std::string>& failed) {
  const std::string folder = folder_of(path);
  const int number =
      inotify_add_watch(inotify_.get(), folder.c_str(), kChanges | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
  if (number < 0) {
    failed.push_back(folder);
  } else {
    names_[number].insert(std::filesystem::path(path).filename().string());
  }
}

}  // namespace bloomgate
