#include "milter/daemon/refused_posts.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kSecondsBetweenLines = 60;

// An answer ends with a line end, which the log does not need.
std::string reason_of(const HttpAnswer& answer) {
  if (answer.status == 0) return "without an answer, since it did not arrive as a whole";
  const std::string_view text = answer.body;
  return fmt::format("with status {}: {}", answer.status, printable(text.substr(0, text.find('\n'))));
}

}  // namespace

void RefusedPosts::note(const HttpAnswer& answer) noexcept {
  note_logged(answer.status);
  const std::lock_guard lock(mutex_);
  ++unlogged_;
  try {
    last_ = answer;
  } catch (const std::bad_alloc&) {
    return;  // the next second logs it
  }
  if (is_due()) log_now();
}

void RefusedPosts::note_logged(unsigned status) noexcept {
  if (tally_ != nullptr) tally_->note_refused_post(status);
}

void RefusedPosts::end_second() noexcept {
  const std::lock_guard lock(mutex_);
  ++second_;
  if (is_due()) log_now();
}

void RefusedPosts::log_rest() noexcept {
  const std::lock_guard lock(mutex_);
  log_now();
}

bool RefusedPosts::is_due() const noexcept {
  return logged_at_ == 0 || second_ - logged_at_ >= kSecondsBetweenLines;
}

void RefusedPosts::log_now() noexcept {
  if (unlogged_ == 0) return;
  try {
    log_->warn("lookup-messages: {} not decided, the last {}",
               format_counted(unlogged_, "posted message was", "posted messages were"), reason_of(last_));
    unlogged_ = 0;
    logged_at_ = second_;
  } catch (const std::exception&) {
    // There is no memory for it now: the next second tries again, and the figures have them.
  }
}

}  // namespace bloomgate
