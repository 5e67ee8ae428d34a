// Takes a message's facts to its decision, and writes the log line: everything that happens at the end of a message but
// for what is said to libmilter. Used by callbacks.cpp, from all session threads at once.
#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string_view>

#include "milter/list_slot.hpp"
#include "milter/session.hpp"

namespace bloomgate {

class Gate {
 public:
  // `on_damage` is called once for each whitelist that turns out damaged, from a session's thread; it must not block.
  // `slot` must outlive the gate.
  Gate(const ListSlot& slot, std::shared_ptr<spdlog::logger> log, std::function<void()> on_damage)
      : slot_(slot), log_(std::move(log)), on_damage_(std::move(on_damage)) {}

  // Decides the message and logs one line about it at level info:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=deliver reason=listed time_us=1.4
  //
  // with `fault=` for a malformed sender and `forged_headers=` where the message came with X-Bloomgate fields. No byte
  // of the sender can add a field or a line to it. Throws only where memory runs out.
  Decision conclude(const Session& session, std::string_view queue_id) const;

 private:
  void log_message(const Session& session, std::string_view queue_id, const Decision& decision,
                   double microseconds) const;

  const ListSlot& slot_;
  std::shared_ptr<spdlog::logger> log_;
  std::function<void()> on_damage_;
};

}  // namespace bloomgate
