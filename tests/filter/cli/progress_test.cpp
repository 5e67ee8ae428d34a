#include "filter/cli/progress.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/own_process.hpp"

namespace bloomgate::cli {
namespace {

using namespace std::chrono_literals;
using Style = Progress::Style;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// What is written to it can be read as it comes.
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends = {};
    REQUIRE(pipe(ends.data()) == 0);
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
  }
  int write_end() const { return write_end_.get(); }

  // All that was written, once it holds `text`; the test fails after ten seconds.
  std::string read_until(std::string_view text) {
    while (all_.find(text) == std::string::npos) {
      REQUIRE(read_more(10'000));
    }
    return all_;
  }
  std::string read_rest() {
    while (read_more(0)) continue;
    return all_;
  }

 private:
  bool read_more(int milliseconds) {
    pollfd ready = {.fd = read_end_.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    std::array<char, 4096> buffer;
    const ssize_t count = read(read_end_.get(), buffer.data(), buffer.size());
    REQUIRE(count > 0);
    all_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::string all_;
};

TEST_CASE("a line of progress shows amount, rate and time as far as they are known") {
  struct Row {
    WorkState state;
    std::chrono::duration<double> elapsed;
    std::string want;
  };
  const Row row = GENERATE(values<Row>({
      {{"reading", 25 * kMiB, 100 * kMiB}, 5s, "reading: 25 %, 25.00 MiB of 100.00 MiB, 5.00 MiB/s, 0:15 left"},
      {{"reading", 100 * kMiB, 100 * kMiB}, 5s, "reading: 100 %, 100.00 MiB of 100.00 MiB, 20.00 MiB/s, 0:00 left"},
      {{"reading", 101 * kMiB, 100 * kMiB}, 5s, "reading: 100 %, 101.00 MiB of 100.00 MiB, 20.20 MiB/s, 0:00 left"},
      {{"reading", kMiB, 7201 * kMiB}, 1s, "reading: 0 %, 1.00 MiB of 7.03 GiB, 1.00 MiB/s, 2:00:00 left"},
      {{"reading", 3 * kMiB, 0}, 61s, "reading: 3.00 MiB, 50.36 KiB/s, 1:01"},
      {{"reading", 0, 100 * kMiB}, 61s, "reading: 1:01"},
      {{"writing", 0, 0}, 3s, "writing: 0:03"},
  }));
  CHECK(progress_line(row.state, row.elapsed) == row.want);
}

TEST_CASE("a bar fits its terminal") {
  const WorkState half = {"reading", 50 * kMiB, 100 * kMiB};
  CHECK(progress_bar(half, 5s, 79) ==
        "reading [#######.......]  50 %  50.00 MiB of 100.00 MiB  10.00 MiB/s  0:05 left");
  CHECK(progress_bar({"reading", kMiB, 0}, 1s, 79) == "reading  1.00 MiB  1.00 MiB/s  0:01");
  for (std::size_t columns = 0; columns < 200; ++columns) {
    const std::string bar = progress_bar(half, 5s, columns);
    CHECK(bar.size() <= columns);
    CHECK((bar.find('[') != std::string::npos) == (columns >= 70));
    if (columns >= 105) CHECK(bar.find(']') - bar.find('[') == 41);
  }
  CHECK(progress_bar({"reading", 0, kMiB}, 5s, 79) == "reading  0:05");
}

TEST_CASE_METHOD(Pipe, "without a terminal, lines of progress are printed at intervals until the stop") {
  std::atomic<std::uint64_t> done{0};
  Progress progress(Style::lines, [&]() -> WorkState { return {"reading", done += kMiB, 0}; }, 1ms, write_end());
  const std::string text = read_until("reading: 3.00 MiB");
  CHECK(text.find("reading: 1.00 MiB") == 0);
  CHECK(text.find('\r') == std::string::npos);
  progress.stop();
  const std::string all = read_rest();
  CHECK(all.back() == '\n');
  progress.stop();
  progress.show("a warning");
  CHECK(read_rest() == all + "a warning\n");
}

TEST_CASE_METHOD(Pipe, "each piece of work has its own time") {
  std::atomic<bool> writing{false};
  Progress progress(
      Style::lines, [&]() -> WorkState { return {writing ? "writing" : "reading", 0, 0}; }, 20ms, write_end());
  read_until("reading: 0:01");
  writing = true;
  read_until("writing: 0:00");
}

TEST_CASE_METHOD(Pipe, "a bar is overwritten, makes room for other lines, and is erased at the end") {
  std::string stopped;
  {
    Progress progress(Style::bar, []() -> WorkState { return {"reading", kMiB, 2 * kMiB}; }, 1ms, write_end());
    read_until("\r\x1b[Kreading [");
    progress.show("list:1: bad");
    read_until("list:1: bad\n\r\x1b[Kreading [");
    progress.stop();
    const std::string all = read_rest();
    CHECK(all.find("\r\x1b[Klist:1: bad\n") != std::string::npos);
    CHECK(all.ends_with("\r\x1b[K"));
    stopped = all;
    progress.stop();
  }
  CHECK(read_rest() == stopped);
}

TEST_CASE("a progress that cannot be written ends all the same") {
  Progress progress(Style::none, {}, 1h, -1);
  progress.show("a warning");
  progress.stop();
}

TEST_CASE("a bar is for a terminal that is able to show one, and has its width") {
  int terminal = -1;
  int user = -1;
  winsize size = {.ws_row = 24, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(openpty(&terminal, &user, nullptr, nullptr, &size) == 0);
  const FileDescriptor ends[] = {FileDescriptor(terminal), FileDescriptor(user)};
  CHECK(terminal_columns(user) == 97);
  size.ws_col = 0;
  REQUIRE(ioctl(user, TIOCSWINSZ, &size) == 0);
  CHECK(terminal_columns(user) == 80);
  CHECK(terminal_columns(-1) == 80);
  // In a process of its own, whose environment no other test reads.
  CHECK(test::status_of([user] {
          setenv("TERM", "dumb", 1);
          if (Progress::style_for(user) != Style::lines) return 1;
          setenv("TERM", "xterm", 1);
          if (Progress::style_for(user) != Style::bar || Progress::style_for(-1) != Style::lines) return 2;
          unsetenv("TERM");
          return Progress::style_for(user) == Style::bar ? 0 : 3;
        }) == 0);
  CHECK(Progress::interval_of(Style::bar) < 1s);
  CHECK(Progress::interval_of(Style::lines) >= 10s);
}

TEST_CASE_METHOD(Pipe, "a silent progress prints nothing, and its end does not wait for the interval") {
  const auto start = std::chrono::steady_clock::now();
  for (const Style style : {Style::none, Style::bar, Style::lines}) {
    const Progress progress(style, []() -> WorkState { return {"reading", 1, 1}; }, 1h, write_end());
  }
  CHECK(std::chrono::steady_clock::now() - start < 1min);
  CHECK(read_rest().empty());
}

}  // namespace
}  // namespace bloomgate::cli
