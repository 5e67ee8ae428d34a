#include "filter/cli/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "filter/base/number_text.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

struct Figures {
  std::string percent;  // "45 %"; empty if the total is not known
  std::string bytes;    // "4.50 GiB of 10.00 GiB"
  std::string rate;     // "812.00 MiB/s"
  std::string time;     // "0:07 left", or "0:12" so far
};

double share_of(const WorkState& state) noexcept {
  return std::min(1.0, static_cast<double>(state.done_bytes) / static_cast<double>(state.total_bytes));
}

Figures figures_of(const WorkState& state, double seconds) {
  Figures figures;
  figures.time = format_clock(seconds);
  if (state.done_bytes == 0) return figures;
  const double rate = static_cast<double>(state.done_bytes) / std::max(seconds, 1e-3);
  figures.bytes = format_short_bytes(state.done_bytes);
  figures.rate = format_short_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (state.total_bytes == 0) return figures;
  const double left_bytes = static_cast<double>(state.total_bytes) * (1 - share_of(state));
  figures.percent = fmt::format("{:.0f} %", std::floor(100 * share_of(state)));
  figures.bytes += " of " + format_short_bytes(state.total_bytes);
  figures.time = format_clock(left_bytes / rate) + " left";
  return figures;
}

}  // namespace

std::size_t terminal_columns(int fd) noexcept {
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

std::string progress_bar(const WorkState& state, std::chrono::duration<double> elapsed, std::size_t columns) {
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kShortest = 5;
  const Figures figures = figures_of(state, elapsed.count());
  std::string text(state.doing);
  std::string tail;
  for (const std::string& figure : {figures.percent, figures.bytes, figures.rate, figures.time}) {
    if (!figure.empty()) tail += "  " + figure;
  }
  const std::size_t frame = text.size() + 3 + tail.size();  // with a space and the brackets
  if (!figures.percent.empty() && frame + kShortest <= columns) {
    const std::size_t length = std::min(kLongest, columns - frame);
    const auto filled = static_cast<std::size_t>(share_of(state) * static_cast<double>(length));
    text += " [" + std::string(filled, '#') + std::string(length - filled, '.') + "]";
  }
  return (text + tail).substr(0, columns);
}

std::string progress_line(const WorkState& state, std::chrono::duration<double> elapsed) {
  const Figures figures = figures_of(state, elapsed.count());
  std::string text = std::string(state.doing) + ": ";
  for (const std::string& figure : {figures.percent, figures.bytes, figures.rate}) {
    if (!figure.empty()) text += figure + ", ";
  }
  return text + figures.time;
}

Progress::Style Progress::style_for(int fd) {
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(fd) != 0 && !dumb ? Style::bar : Style::lines;
}

std::chrono::milliseconds Progress::interval_of(Style style) noexcept {
  return std::chrono::milliseconds(style == Style::bar ? 200 : 10'000);
}

Progress::Progress(Style style, std::function<WorkState()> look, std::chrono::milliseconds interval, int fd)
    : style_(style), look_(std::move(look)), interval_(interval), fd_(fd) {
  if (style_ != Style::none) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Progress::~Progress() {
  stop();
}

void Progress::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_for(lock, stop, interval_, [] { return false; });
    if (stop.stop_requested()) return;
    const WorkState state = look_();
    // Each piece of work has its own rate and its own time left.
    if (state.doing != doing_) start_ = doing_.empty() ? start_ : std::chrono::steady_clock::now();
    doing_ = state.doing;
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (style_ == Style::bar) {
      // One column stays free: a terminal may go to the next line after the last one.
      put(std::string(kEraseLine) + progress_bar(state, elapsed, terminal_columns(fd_) - 1));
      bar_shown_ = true;
    } else {
      put(progress_line(state, elapsed) + '\n');
    }
  }
}

void Progress::show(std::string_view line) {
  const std::lock_guard lock(mutex_);
  put(std::string(bar_shown_ ? kEraseLine : "").append(line) + '\n');
  bar_shown_ = false;  // until it is drawn again
}

void Progress::stop() noexcept {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (bar_shown_) put(kEraseLine);
  bar_shown_ = false;
}

// An error is ignored: no work fails because standard error is closed.
void Progress::put(std::string_view text) const noexcept {
  while (!text.empty()) {
    const ssize_t written = write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bloomgate::cli
