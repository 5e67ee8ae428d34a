// Counts the whole messages that programs have posted (message_answers.hpp) and that got no decision, for the figures
// and the log. A program may be refused hundreds of times a second, so the log has one line a minute. No refusal is
// missing in these lines: a later line counts what came after the one before it.
//
// Safe from any thread.
#pragma once

#include <spdlog/fwd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "milter/monitoring/tally.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

class RefusedPosts {
 public:
  // `tally` may be null; otherwise it must outlive the object.
  RefusedPosts(std::shared_ptr<spdlog::logger> log, Tally* tally) : log_(std::move(log)), tally_(tally) {}
  ~RefusedPosts() { log_rest(); }
  RefusedPosts(const RefusedPosts&) = delete;
  RefusedPosts& operator=(const RefusedPosts&) = delete;

  // A message was refused with that answer. With status 0 it got no answer, since it did not arrive as a whole.
  void note(const HttpAnswer& answer) noexcept;
  // The same for a message that has a line of its own in the log.
  void note_logged(unsigned status) noexcept;

  // To be called once a second: logs what is not logged yet, if the last line is a minute old.
  void end_second() noexcept;
  // Logs what is not logged yet.
  void log_rest() noexcept;

 private:
  bool is_due() const noexcept;
  void log_now() noexcept;

  const std::shared_ptr<spdlog::logger> log_;
  Tally* const tally_;
  std::mutex mutex_;
  std::uint32_t second_ = 1;
  std::uint32_t logged_at_ = 0;  // 0: never
  std::uint64_t unlogged_ = 0;
  HttpAnswer last_;  // of those
};

}  // namespace bloomgate
