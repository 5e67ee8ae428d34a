// The history of decisions and the file in which it outlives the daemon. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "milter/monitoring/decision_history.hpp"

namespace bloomgate {

class KeptHistory {
 public:
  using Warn = std::function<void(const std::string& what)>;  // with one line, about what cannot be kept or read

  // Takes in the file, if there is one. An empty path: the history ends with the object. What is no file of a history
  // is left as it is, and never written to.
  KeptHistory(std::string path, Warn warn);
  // Writes the file.
  ~KeptHistory() { save(); }
  KeptHistory(const KeptHistory&) = delete;
  KeptHistory& operator=(const KeptHistory&) = delete;

  // What was decided since the start, never less than at the last call. Writes the file once in a quarter of an hour.
  void note(DecisionHistory::Time now, const MessageCounts& since_start) noexcept;

  const DecisionHistory& history() const noexcept { return history_; }

 private:
  void load();
  void save() noexcept;
  void warn(const std::string& what) noexcept;

  const std::string path_;
  const Warn warn_;
  bool may_save_ = true;
  std::string last_warning_;
  DecisionHistory history_;
  MessageCounts before_ = {};
  DecisionHistory::Time now_ = {};
  std::int64_t saved_in_ = 0;  // the number of the quarter of an hour
};

}  // namespace bloomgate
