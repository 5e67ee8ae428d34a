// Keeps the log from delaying mail: a line is put into a bounded queue, and a separate thread passes it to the sink
// that writes. A full disk, a missing journal or a stopped terminal blocks only that thread.
#pragma once

#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/sinks/sink.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "filter/base/bounded_queue.hpp"

namespace bloomgate {

// Safe from any thread. Only the queue's own thread calls `writer`. While lines keep coming, it collects them for up to
// 10 ms; a line after a pause, and an error, is written at once. Lines are written in the order in which they were
// logged. A line is lost if the queue is full, or if the writer throws: a warning in the log says how many were lost.
class QueuedSink final : public spdlog::sinks::sink {
 public:
  // Limits on the waiting lines. As much again may be inside a writer that hangs.
  struct Limits {
    std::size_t lines = 16384;
    std::size_t bytes = std::size_t{8} << 20;
    std::chrono::milliseconds flush_patience{2000};
  };

  // Throws std::system_error if it cannot start its thread.
  QueuedSink(std::shared_ptr<spdlog::sinks::sink> writer, Limits limits);
  // Waits until all lines are written, as long as the writer takes.
  ~QueuedSink() override;

  // Costs a lock and a copy, and no system call while lines keep coming. Does not throw.
  void log(const spdlog::details::log_msg& line) override;
  // Returns when all earlier lines are written or lost, or after flush_patience.
  void flush() override;
  void set_pattern(const std::string& pattern) override { writer_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    writer_->set_formatter(std::move(formatter));
  }

  // Counts a line that did not reach log().
  void count_lost() noexcept {
    ++lost_;
    ++lost_in_all_;
  }

  // How many lines were lost since the start, including those already reported in the log.
  std::uint64_t lost_in_all() const noexcept { return lost_in_all_; }

 private:
  using Line = spdlog::details::log_msg_buffer;

  class Room : public RoomForItems<Line> {
   public:
    explicit Room(const Limits& limits) noexcept : RoomForItems(limits.lines), free_bytes_(limits.bytes) {}
    bool has_room_for(const Line& line, std::size_t waiting) const noexcept {
      return RoomForItems::has_room_for(line, waiting) && line.payload.size() <= free_bytes_;
    }
    void note_added(const Line& line) noexcept { free_bytes_ -= line.payload.size(); }
    void note_taken(const Line& line) noexcept { free_bytes_ += line.payload.size(); }

   private:
    std::size_t free_bytes_;
  };
  using Queue = BoundedQueue<Line, Room>;

  void write_until_closed() noexcept;
  std::uint64_t write(const Queue::Items& lines, std::uint64_t& unsaid) noexcept;

  const std::shared_ptr<spdlog::sinks::sink> writer_;
  const std::chrono::milliseconds flush_patience_;
  Queue queue_;
  std::atomic<std::uint64_t> lost_{0};  // not yet reported in the log
  std::atomic<std::uint64_t> lost_in_all_{0};
  std::thread thread_;
};

}  // namespace bloomgate
