// Loads all configured lists as one set: whitelists and the exact lists beside them. The first load, a reload and a
// change of files are the same call. They differ in which lists are wanted, which are in use, and which whitelists are
// read. The call changes nothing that is in use, except that it notes damage there. For the supervisor's thread.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/daemon_options.hpp"
#include "filter/system/file_stamp.hpp"
#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

// The files and folders from which lists come. The first function has the exact lists; the second also has the
// whitelists, with their stores, their manifests and the lists of revoked entries beside them.
std::vector<std::string> exact_list_paths(const DaemonOptions& options);
std::vector<std::string> all_list_paths(const DaemonOptions& options);

// Which whitelists are read; the others remain in use unchanged. Exact lists are always read.
enum class ReadWhitelists : std::uint8_t {
  all,
  replaced,  // those whose files differ from the last attempt; of a folder the new layers
  none,
};

class ListLoader {
 public:
  struct Request {
    const DaemonOptions& wanted;
    ReadWhitelists whitelists = ReadWhitelists::all;
    // What is in use, and the options from which it was loaded. Null: nothing is in use yet.
    const DaemonOptions* known = nullptr;
    ListParts in_use = {};
  };

  // A line of the log about lists that were read. It may be logged only once the lists are in use, since readers of the
  // log rely on that.
  struct Line {
    bool is_warning = false;
    std::string text;
  };

  struct Loaded {
    ListParts lists;
    bool are_usable = true;                 // false: a list that is new in the configuration cannot be used
    bool tried_whitelists = false;          // at least one was read
    std::vector<std::string> refused = {};  // why lists were not loaded
    // Why whitelists were refused earlier that are not read again now, since their files have not changed.
    std::vector<std::string> still_refused = {};
    std::vector<std::string> lost = {};  // why exact lists that were in use are no longer used
    std::vector<Line> lines = {};
  };

  explicit ListLoader(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  // If nothing is in use yet: throws if a list cannot be used, unless it is a whitelist that may be missing.
  //
  // Otherwise: if a whitelist that is in use cannot be loaded again, its filters remain in use, with the revoked
  // entries beside them. It is marked damaged if the refused file is the very file in use. If an exact list that is in
  // use cannot be read any more, it is lost. An exact list that comes with a whitelist that may be missing is also
  // lost, until both exist.
  Loaded load(const Request& request);

  // Returns what is in use, without the whitelists that are too old to be used any longer; nothing if no whitelist is
  // too old. Entries that such a whitelist has revoked stay revoked.
  std::optional<Loaded> without_overdue(const DaemonOptions& options, const ListParts& in_use,
                                        std::chrono::system_clock::time_point now);

  // Returns what is in use, with manifests stored that could not be stored before; nothing if there are none of these.
  static std::optional<Loaded> with_remembered(const DaemonOptions& options, const ListParts& in_use);

  // Whether the files of the whitelist differ from those at the last attempt to load it. So a refused file is not read
  // again and again. Also true if the whitelist was too old by the clock then, and is not by the clock now.
  bool is_replaced(const WhitelistSource& source,
                   std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) const;

 private:
  // The files that a whitelist has: its filter and its store. A file that does not exist is nothing.
  struct Files {
    std::optional<FileStamp> filter = {};
    std::optional<FileStamp> store = {};
    std::optional<FileStamp> manifest = {};
    // If the whitelist is a folder, these replace filter and store.
    std::optional<FileStamp> revoked = {};
    std::vector<std::pair<std::string, std::optional<FileStamp>>> layers = {};
    bool are_there() const noexcept { return filter || !layers.empty(); }
    friend bool operator==(const Files&, const Files&) = default;
  };
  static Files files_of(const WhitelistSource& source);
  void note_if_overdue(const WhitelistSource& source);

  void load_whitelist(const Request& request, const WhitelistSource& source, Loaded& loaded);
  std::vector<NamedFilter> read_whitelist(const Request& request, const WhitelistSource& source,
                                          const std::vector<NamedFilter>& in_use, std::vector<Line>& lines);

  const std::shared_ptr<spdlog::logger> log_;
  std::map<std::string, Files> tried_;          // by the path of the filter: its files at the last attempt to load it
  std::map<std::string, std::string> refused_;  // by the same path: why the last attempt to load it failed
  // By the same path, of a whitelist that is not used because it is too old by the clock: the last second in which it
  // could be used.
  std::map<std::string, std::chrono::sys_seconds> overdue_;
};

}  // namespace bloomgate
