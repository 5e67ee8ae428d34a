#include "milter/message/envelope.hpp"

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLoggedQueueIdBytes = 64;

}  // namespace

std::string logged_queue_id(std::string_view queue_id) {
  return queue_id.empty() ? "-" : printable_word(queue_id, kMaxLoggedQueueIdBytes);
}

}  // namespace bloomgate
