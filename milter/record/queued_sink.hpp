// Keeps the log from holding mail up: a line is put into a bounded queue, and a thread of its own gives it to the sink
// that writes. A full disk, a journal that is gone or a terminal that nobody reads stops that thread alone.
#pragma once

#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/sinks/sink.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomgate {

// Safe from any thread. `writer` is called by the queue's own thread only. That one gathers the lines of up to 10 ms
// where they come one after the other; a line after a rest, and an error, is written at once. Lines are written in the
// order in which they came. One that finds the queue full is lost, as is one that the writer throws at: a warning in
// the log says how many were.
class QueuedSink final : public spdlog::sinks::sink {
 public:
  // Of the lines that wait. As much again may be on its way through a writer that hangs.
  struct Limits {
    std::size_t lines = 16384;
    std::size_t bytes = std::size_t{8} << 20;
    std::chrono::milliseconds flush_patience{2000};
  };

  // Throws std::system_error where there is no thread for it.
  QueuedSink(std::shared_ptr<spdlog::sinks::sink> writer, Limits limits);
  // Waits until all is written, as long as the writer takes.
  ~QueuedSink() override;

  // Costs a lock and a copy, and no system call while lines come one after the other. Throws nothing.
  void log(const spdlog::details::log_msg& line) override;
  // Returns when all lines that came before are written or lost, or when flush_patience is over.
  void flush() override;
  void set_pattern(const std::string& pattern) override { writer_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    writer_->set_formatter(std::move(formatter));
  }

  // Counts a line that did not come as far as log().
  void count_lost() noexcept;

  // How many lines are lost since the start, said or not.
  std::uint64_t lost_in_all() const;

 private:
  using Lines = std::vector<spdlog::details::log_msg_buffer>;

  void write_until_told_to_end();
  std::uint64_t write(const Lines& lines, std::uint64_t& unsaid) noexcept;
  void count_one_lost() noexcept {
    ++lost_;
    ++lost_in_all_;
  }
  bool is_urgent() const { return ends_ || is_hurried_ || queue_.size() > limits_.lines / 2; }

  const std::shared_ptr<spdlog::sinks::sink> writer_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable wanted_;   // for the writing thread
  std::condition_variable written_;  // for those who flush
  Lines queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t lost_ = 0;  // and not said yet
  std::uint64_t lost_in_all_ = 0;
  std::uint64_t came_ = 0;   // lines in all
  std::uint64_t done_ = 0;   // of these, written or lost on the way
  bool is_resting_ = false;  // the writing thread waits for a first line
  bool is_hurried_ = false;  // what there is shall be written now
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bloomgate
