#include "milter/learning/pending_lesson.hpp"

#include <new>
#include <utility>

#include "filter/mail/calendar_reply.hpp"

namespace bloomgate {
namespace {

// The most bytes that a connection keeps between messages.
constexpr std::size_t kMaxIdleBodyBytes = 4096;

}  // namespace

void PendingLesson::begin(Lesson lesson, std::string_view content_type) noexcept {
  clear();
  if (lesson.is_empty()) return;
  try {
    wants_body_ = needs_body(content_type);
    if (wants_body_) content_type_ = content_type;
    lesson_ = std::move(lesson);
  } catch (const std::bad_alloc&) {
    clear();
  }
}

bool PendingLesson::add_body(std::string_view bytes) noexcept {
  if (!wants_body_) return false;
  try {
    body_.append(bytes.substr(0, kCalendarReplyBytes - body_.size()));
    return body_.size() < kCalendarReplyBytes;
  } catch (const std::bad_alloc&) {
    clear();
    return false;
  }
}

Lesson PendingLesson::take() noexcept {
  Lesson lesson = std::exchange(lesson_, {});
  if (wants_body_ && (body_.empty() || has_automatic_part(content_type_, body_))) lesson = {};
  clear();
  return lesson;
}

void PendingLesson::clear() noexcept {
  lesson_ = {};
  content_type_.clear();
  body_.clear();
  if (body_.capacity() > kMaxIdleBodyBytes) std::string().swap(body_);
  wants_body_ = false;
}

}  // namespace bloomgate
