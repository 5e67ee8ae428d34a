// Answers other programs at the address of the option `lookup-socket`.
#pragma once

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "config/daemon_options.hpp"
#include "milter/daemon/message_answers.hpp"
#include "milter/daemon/refused_posts.hpp"
#include "milter/glue/listening_socket.hpp"
#include "milter/judge/judge.hpp"
#include "milter/lookup/lookup_server.hpp"

namespace bloomgate {

// Whether the daemon answers look-ups of learned entries, by the options in force.
class LearnedLookUps {
 public:
  // `started_with` must outlive the object: its lookup-socket is the address on which the socket listens.
  LearnedLookUps(const DaemonOptions& started_with, std::shared_ptr<spdlog::logger> log)
      : started_with_(started_with), log_(std::move(log)) {}

  // At the start and at a reload; logs what has changed.
  void set_options(const DaemonOptions& options);

  Judge::AskLearned rule() const noexcept { return rule_; }

 private:
  const DaemonOptions& started_with_;
  const std::shared_ptr<spdlog::logger> log_;
  std::atomic<Judge::AskLearned> rule_{Judge::AskLearned::no};
  std::string told_;  // the last line that was logged about this
};

class SenderLookups {
 public:
  // Answers until the object is destroyed, which waits until each posted message is decided. The references must
  // outlive the object. Throws what ListeningSocket and LookupServer throw.
  SenderLookups(const DaemonOptions& options, const Judge& judge, const LearnedLookUps& learned, const PartsSlot& parts,
                const std::shared_ptr<spdlog::logger>& log);
  ~SenderLookups();
  SenderLookups(const SenderLookups&) = delete;
  SenderLookups& operator=(const SenderLookups&) = delete;

  // Accepts no further posted messages, and waits until `deadline` for those that are being decided. Returns false if
  // some still are. To stop in time, the process must then end without destroying the object: its path, if it has one,
  // is removed, and nothing is left to log.
  bool finish_by(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  std::optional<ListeningSocket> socket_;  // nothing after a finish_by() that has returned false
  RefusedPosts refused_;
  const std::unique_ptr<MessageAnswers> messages_;  // null: no message is decided here
  LookupServer server_;
};

}  // namespace bloomgate
