// Shows on standard error how far long work has come: on a terminal as a bar that is drawn again and again, elsewhere
// as a plain line now and then.
//
// A subcommand makes it before the work and stops it before its report; the bar disappears with it. Several threads may
// call show(); the rest is for the thread that made it.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "filter/base/work_state.hpp"

namespace bloomgate::cli {

class Progress {
 public:
  enum class Style : std::uint8_t { none, bar, lines };

  // A bar for a terminal, lines for anything else.
  static Style style_for(int fd);
  static std::chrono::milliseconds interval_of(Style style) noexcept;  // a fifth of a second, 10 s

  // Asks for the state every `interval`, in its own thread, and shows it on `fd`, which the caller still owns.
  Progress(Style style, std::function<WorkState()> look, std::chrono::milliseconds interval, int fd = STDERR_FILENO);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Prints a line, above the bar if there is one. `line` has no line end.
  void show(std::string_view line);

  // Shows nothing more, and removes the bar. May be called again.
  void stop() noexcept;

 private:
  void run(const std::stop_token& stop);
  void put(std::string_view text) const noexcept;

  Style style_;
  std::function<WorkState()> look_;
  std::chrono::milliseconds interval_;
  int fd_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string doing_;  // at the last look
  bool bar_shown_ = false;
  std::jthread thread_;
};

// Of the terminal that the descriptor is; 80 if it is not one.
std::size_t terminal_columns(int fd) noexcept;

// The state as a bar of at most `columns` characters, or as a sentence.
std::string progress_bar(const WorkState& state, std::chrono::duration<double> elapsed, std::size_t columns);
std::string progress_line(const WorkState& state, std::chrono::duration<double> elapsed);

}  // namespace bloomgate::cli
