#include "milter/daemon/sender_lookups.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "filter/base/printable.hpp"
#include "milter/glue/connection.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lookup/learned_answers.hpp"
#include "milter/serving/local_socket.hpp"

namespace bloomgate {
namespace {

SenderStanding standing_of(const Decision& decision) noexcept {
  if (decision.verdict == Verdict::deliver) return SenderStanding::listed;
  return decision.reason == Reason::revoked ? SenderStanding::revoked : SenderStanding::neither;
}

// If this fails, look-ups are answered without it.
std::unique_ptr<MessageAnswers> answers_for_messages(const DaemonOptions& options, const PartsSlot& parts,
                                                     RefusedPosts& refused,
                                                     const std::shared_ptr<spdlog::logger>& log) {
  if (options.lookup_messages == 0) return nullptr;
  try {
    std::optional<BearerToken> token;
    if (!options.lookup_token.empty()) token = BearerToken::read_from(options.lookup_token);
    return std::make_unique<MessageAnswers>(parts, options.lookup_messages, std::move(token), refused, log);
  } catch (const BloomgateError& error) {
    log->error("lookup-messages: no message is decided at lookup-socket: {}", printable(error.what()));
    return nullptr;
  }
}

Tally* tally_of(const PartsSlot& parts) {
  Monitor* const monitor = parts.get()->monitor;
  return monitor == nullptr ? nullptr : &monitor->tally();
}

std::function<HttpAdmission(const HttpRequest&)> admission(MessageAnswers* messages) {
  if (messages == nullptr) return nullptr;
  return [messages](const HttpRequest& request) { return messages->admit(request); };
}

}  // namespace

void LearnedLookUps::set_options(const DaemonOptions& options) {
  if (!started_with_.lookup_socket) return;
  rule_ = answers_for_learned(*started_with_.lookup_socket, options) ? Judge::AskLearned::yes : Judge::AskLearned::no;
  std::string text = learned_answers_text(*started_with_.lookup_socket, options);
  if (!text.empty() && text != told_) log_->info("{}", text);
  told_ = std::move(text);
}

SenderLookups::SenderLookups(const DaemonOptions& options, const Judge& judge, const LearnedLookUps& learned,
                             const PartsSlot& parts, const std::shared_ptr<spdlog::logger>& log)
    : socket_(std::in_place, *options.lookup_socket, options.socket_mode, options.socket_group),
      refused_(log, tally_of(parts)),
      messages_(answers_for_messages(options, parts, refused_, log)),
      server_(socket_->descriptor(),
              {.answer =
                   [&judge, &learned](const SenderQuestion& question, auto deadline) {
                     return standing_of(judge.look_up(question.sender, question.recipient, deadline, learned.rule()));
                   },
               .on_fault = [log](const std::string& what) { log_error(*log, "lookup-socket: " + printable(what)); },
               .admit_message = admission(messages_.get()),
               .on_refused_message = [this](const HttpAnswer& answer) { refused_.note(answer); },
               .on_second = [this] { refused_.end_second(); }}) {
  const std::string address = printable(to_string(*options.lookup_socket));
  log->info("look-ups of senders at {}{}", address,
            messages_ ? fmt::format(", and up to {} messages at once", options.lookup_messages) : "");
  if (is_local_socket(socket_->descriptor())) return;
  log->warn(
      "lookup-socket: {} can be reached from other machines: who reaches it may ask for any address whether it is "
      "listed, so let a firewall say who may, or use 127.0.0.1",
      address);
}

// The server's thread fetches the last answers.
SenderLookups::~SenderLookups() {
  if (messages_) messages_->stop();
}

bool SenderLookups::finish_by(std::chrono::steady_clock::time_point deadline) noexcept {
  if (!messages_ || messages_->finish_by(deadline)) return true;
  socket_.reset();
  refused_.log_rest();
  return false;
}

}  // namespace bloomgate
