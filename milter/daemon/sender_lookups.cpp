#include "milter/daemon/sender_lookups.hpp"

#include <chrono>
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

}  // namespace

void LearnedLookUps::set_options(const DaemonOptions& options) {
  if (!started_with_.lookup_socket) return;
  rule_ = answers_for_learned(*started_with_.lookup_socket, options) ? Judge::AskLearned::yes : Judge::AskLearned::no;
  std::string text = learned_answers_text(*started_with_.lookup_socket, options);
  if (!text.empty() && text != told_) log_->info("{}", text);
  told_ = std::move(text);
}

SenderLookups::SenderLookups(const DaemonOptions& options, const Judge& judge, const LearnedLookUps& learned,
                             const std::shared_ptr<spdlog::logger>& log)
    : socket_(*options.lookup_socket, options.socket_mode, options.socket_group),
      server_(socket_.descriptor(),
              {.answer =
                   [&judge, &learned](const SenderQuestion& question, auto deadline) {
                     return standing_of(judge.look_up(question.sender, question.recipient, deadline, learned.rule()));
                   },
               .on_fault = [log](const std::string& what) { log_error(*log, "lookup-socket: " + printable(what)); }}) {
  const std::string address = printable(to_string(*options.lookup_socket));
  log->info("look-ups of senders at {}", address);
  if (is_local_socket(socket_.descriptor())) return;
  log->warn(
      "lookup-socket: {} can be reached from other machines: who reaches it may ask for any address whether it is "
      "listed, so let a firewall say who may, or use 127.0.0.1",
      address);
}

}  // namespace bloomgate
