// The file that stores the history of decisions while the daemon is not running. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "filter/system/file_descriptor.hpp"
#include "milter/monitoring/decision_history.hpp"

namespace bloomgate {

class HistoryFile {
 public:
  using Warn = std::function<void(const std::string& what)>;  // gets one line about a failure to read or write

  // Loads the file, if there is one, into `history`, which must outlive the object. A file that is not a history is
  // left unchanged and never overwritten.
  HistoryFile(std::string path, DecisionHistory& history, DecisionHistory::Time now, Warn warn);
  // Writes the file.
  ~HistoryFile() { save(); }
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  // Writes the file every quarter of an hour. Waits for the disk.
  void tick(DecisionHistory::Time now) noexcept;

 private:
  void lock();
  void load();
  void save() noexcept;
  void warn(const std::exception& error) noexcept;

  const std::string path_;
  DecisionHistory& history_;
  const Warn warn_;
  FileDescriptor lock_;
  bool may_save_ = true;
  std::string last_warning_;
  std::int64_t saved_in_;  // the number of the quarter hour
};

}  // namespace bloomgate
