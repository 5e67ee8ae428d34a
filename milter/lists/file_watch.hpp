// Notices changes of a few files, by inotify(7) on their folders: a file is written and closed, renamed into place,
// created, removed, or gets other permissions. For a symbolic link, the link itself and its target are watched; for a
// folder of layers (layer_folder.hpp), each layer.
//
// Used by the supervisor, in one thread: it waits for descriptor() to be readable, then calls take_events(). Other
// files of these folders wake it up as well, which costs some microseconds each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class FileWatch {
 public:
  // The files need not exist yet, but their folders must. `paths` may be empty: then nothing is watched. Throws
  // BloomgateError{no_system_resource} if the system has no inotify instance left.
  explicit FileWatch(std::vector<std::string> paths);

  // Readable if there is something for take_events(); -1 if nothing is watched.
  int descriptor() const noexcept { return inotify_.get(); }

  // Takes all pending events. Returns true if one of them was about a watched file, or if events were lost, since these
  // may have been about any file. Also returns true if a watched folder was moved or removed: then call refresh().
  bool take_events();

  // Watches all folders again, since a folder may have been replaced, or a link may point elsewhere. Returns the
  // folders that cannot be watched.
  std::vector<std::string> refresh();

  // Watches other files from now on. Events of files that are no longer watched may be lost.
  std::vector<std::string> watch_instead(std::vector<std::string> paths);

 private:
  struct Watched {
    std::set<std::string> names;  // of files
    bool layers = false;          // also each layer
  };

  void watch(const std::string& path, std::vector<std::string>& failed);
  Watched* watch_folder(const std::string& folder, std::vector<std::string>& failed);

  std::vector<std::string> paths_;
  FileDescriptor inotify_;
  std::map<int, Watched> watched_;  // by the number of the watch: what is watched in that folder
};

}  // namespace bloomgate
