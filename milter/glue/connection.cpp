#include "milter/glue/connection.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "filter/base/printable.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

std::optional<MessageText::Limits> text_limits(const ConnectionParts& parts) {
  if (parts.deep_check == nullptr) return std::nullopt;
  return parts.deep_check->text_limits();
}

}  // namespace

void log_error(spdlog::logger& log, std::string_view text) noexcept {
  try {
    log.error("{}", text);
  } catch (...) {
    // There is no memory for it, or the log itself has failed. These bytes need neither.
    constexpr std::string_view kLost = "bloomgate-milter: an error could not be logged\n";
    static_cast<void>(!write(STDERR_FILENO, kLost.data(), kLost.size()));
  }
}

void log_exception(spdlog::logger& log, std::string_view where) noexcept {
  constexpr std::string_view kEnd = "; the message is sent to the deeper checks";
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      log_error(log, fmt::format("internal error {}: {}{}", where, printable(error.what()), kEnd));
    } catch (...) {
      log_error(log, fmt::format("internal error {}{}", where, kEnd));
    }
  } catch (const std::exception&) {
    log_error(log, "an internal error, and no memory to say which; the message is sent to the deeper checks");
  }
}

Connection::Connection(std::shared_ptr<const ConnectionParts> parts, int socket)
    : kept_parts_(std::move(parts)), parts_(*kept_parts_), place_(parts_.watch, socket), message_(text_limits(parts_)) {
  message_.keep_header(parts_.verifier != nullptr);
  set_conversation({.tells_recipients = parts_.want_recipients(), .tells_body = parts_.want_body()});
  if (parts_.monitor != nullptr) parts_.monitor->tally().begin_session();
}

Connection::~Connection() {
  forget_message();
  if (parts_.monitor != nullptr) parts_.monitor->tally().end_session();
}

void Connection::set_conversation(const Conversation& agreed) noexcept {
  conversation_ = agreed;
  message_.set_leading_space(agreed.has_leading_space);
  message_.expect_recipients(agreed.tells_recipients);
}

void Connection::begin_message(std::string_view path, const ClientFacts& client) noexcept {
  forget_message();
  is_in_progress_ = true;
  parts_.in_progress->begin();
  hearing_.begin_message();
  message_.begin_message(path, client);
}

void Connection::end_of_header(std::string_view mta_name) noexcept {
  try {
    hearing_.end_of_header(mta_name);
  } catch (...) {
    log_exception(*parts_.log, "at the end of a header");
    // The message is then decided at its end, and its body is kept until then.
    message_.end_header(true);
  }
}

Answer Connection::end_of_message(const EndOfMessage& end) noexcept {
  Answer answer;
  try {
    answer = hearing_.end_of_message(end);
  } catch (...) {
    log_exception(*parts_.log, "at the end of a message");
    answer = hearing_.answer_after_exception();
  }
  if (auto* const edits = std::get_if<Edits>(&answer)) edits->needs_leading_space = conversation_.has_leading_space;
  return answer;
}

void Connection::forget_message() noexcept {
  hearing_.forget_message();
  message_.reset();
  if (is_in_progress_) parts_.in_progress->end();
  is_in_progress_ = false;
}

}  // namespace bloomgate
