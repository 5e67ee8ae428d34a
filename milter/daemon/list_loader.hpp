// Loads all lists that are configured as one set: whitelists, and the exact lists beside them. The first load, a reload
// and a change of files are the same call, which differs in what is wanted, what is in use, and which whitelists are
// read. It changes nothing that is in use, but for damage that it notes there. For the supervisor's thread.
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

// The files and folders that lists come from: exact lists; whitelists as well, with their stores, their manifests and
// what is revoked beside them.
std::vector<std::string> exact_list_paths(const DaemonOptions& options);
std::vector<std::string> all_list_paths(const DaemonOptions& options);

// Which whitelists are read; the others stay as they are in use. Exact lists are always read.
enum class ReadWhitelists : std::uint8_t {
  all,
  replaced,  // those of which other files are there than at the last attempt; of a folder the layers that are new
  none,
};

class ListLoader {
 public:
  struct Request {
    const DaemonOptions& wanted;
    ReadWhitelists whitelists = ReadWhitelists::all;
    // What is in use, and where it came from. Null: nothing is yet.
    const DaemonOptions* known = nullptr;
    ListParts in_use = {};
  };

  // A line of the log about lists that were read: for when they are in use, since who reads it relies on it.
  struct Line {
    bool is_warning = false;
    std::string text;
  };

  struct Loaded {
    ListParts lists;
    bool are_usable = true;                 // if not, a list that is new in the configuration cannot be used
    bool tried_whitelists = false;          // at least one was read
    std::vector<std::string> refused = {};  // why lists were not loaded
    // Why whitelists were refused before, which are not read again now since their files are still the same.
    std::vector<std::string> still_refused = {};
    std::vector<std::string> lost = {};  // why exact lists in use are not used any more
    std::vector<Line> lines = {};
  };

  explicit ListLoader(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  // If nothing is in use yet, throws if a list cannot be used, but for a whitelist that may be missing.
  //
  // Otherwise: of a whitelist that cannot be used, and that was in use, its filters stay, with what is revoked beside
  // them. It is damaged if the file that is refused is the very file in use. An exact list that was in use and cannot
  // be read any more is lost. So is one that comes with a whitelist that may be missing, until both are there.
  Loaded load(const Request& request);

  // What is in use without the whitelists that are too old to be used any longer; nothing where there are none. What
  // they have revoked stays revoked.
  std::optional<Loaded> without_overdue(const DaemonOptions& options, const ListParts& in_use,
                                        std::chrono::system_clock::time_point now);

  // What is in use, where manifests that could not be remembered now are; nothing where there are none of these.
  static std::optional<Loaded> with_remembered(const DaemonOptions& options, const ListParts& in_use);

  // Whether there are other files of the whitelist than when it was last to be loaded; so a file that was refused is
  // not read again and again. Also where it was too old for the clock then, and is not for the clock now.
  bool is_replaced(const WhitelistSource& source,
                   std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) const;

 private:
  // What there is of a whitelist: its filter, and its store. Nothing where there is no file.
  struct Files {
    std::optional<FileStamp> filter = {};
    std::optional<FileStamp> store = {};
    std::optional<FileStamp> manifest = {};
    // Of a folder, instead of filter and store.
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
  std::map<std::string, Files> tried_;  // by the path of the filter: what was there when it was last to be loaded
  std::map<std::string, std::string> refused_;  // by the same path: why it was refused, the last time that it was tried
  // By the same path, of a whitelist that is not used since it is too old by the clock: the last second of its use.
  std::map<std::string, std::chrono::sys_seconds> overdue_;
};

}  // namespace bloomgate
