// What is kept of a message once it is decided: its line in the log, and its count in the daemon's figures. Both are
// written only here; `bloomgate report` and `bloomgate-milter why` read the line by the same keys
// (filter/log/line_keys.hpp). Safe from any thread.
#pragma once

#include <spdlog/fwd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "milter/deep_check/deep_outcome.hpp"
#include "milter/monitoring/monitor.hpp"
#include "milter/policy/facts.hpp"

namespace bloomgate {

// A message's decision, and what it was made from.
struct DecidedMessage {
  Facts facts = {};  // valid as long as those of the recorder
  Decision decision = {};
  double microseconds = 0;          // how long the decision took
  double confirm_microseconds = 0;  // how much of that was spent on stores
};

class Record {
 public:
  // `monitor` must outlive the object; null: there is no monitoring.
  explicit Record(std::shared_ptr<spdlog::logger> log, Monitor* monitor = nullptr)
      : log_(std::move(log)), monitor_(monitor) {}

  // Logs one line about the message at level info, here split into two:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=deliver reason=listed time_us=1.4
  //     identity=envelope authentication=dkim whitelist=customers header_from=joe@example.org
  //
  // It has `fault=` for a malformed sender, and `forged_headers=` if the message came with X-Bloomgate fields. If
  // signatures were verified, it has
  //
  //     dkim=pass domain=example.org selector=s1 key_bits=2048 key_ms=12.3
  //
  // If a name below the sender's domain has signed, and only that kept the message from delivery, it has
  //
  //     child_signer=mg.shop.example child_of=shop.example
  //
  // If pairs were looked up, it has `recipients=3 listed_for=2`; if a store was asked, `confirmed=yes confirm_us=12.3`.
  // At the end comes the log text of the deeper check; `deep_check` is null if it was not asked. No byte from the
  // sender can add a field or a line to it. The message then counts in the daemon's figures, whatever is logged. Throws
  // only if memory runs out.
  void message(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_marks,
               const DeepOutcome* deep_check) const;

  // Logs the line of a message that is refused for its forged fields, at level warn, instead of the other line:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=refuse reason=forged-fields forged_headers=100000
  //
  // Throws only if memory runs out.
  void refusal(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_fields) const;

  // Counts the answer of a store, for the whitelist of that name.
  void confirmation(std::string_view whitelist, Confirmation answer, double seconds) const noexcept;

  // Errors that do not end the message: the step in which its recorder met one, and what kept the message from
  // teaching. They need no memory except the log's.
  void internal_error(std::string_view where) const;
  void learning_error(std::string_view what) const noexcept;
  void suspension_error(std::string_view what) const noexcept;

 private:
  const std::shared_ptr<spdlog::logger> log_;
  Monitor* const monitor_;
};

// The words for the sample of a delivered message (DeliverySample): which message it is, and why it was delivered.
std::string sampled_message(const DecidedMessage& made, std::string_view queue_id);
std::string why_delivered(const DecidedMessage& made);

}  // namespace bloomgate
