// What is kept of a message once it is decided: its line of the log, and its count in the daemon's figures. Written
// here and nowhere else; `bloomgate report` and `bloomgate-milter why` read the line by the same keys
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
  double microseconds = 0;          // what it took
  double confirm_microseconds = 0;  // how much of that the stores took
};

class Record {
 public:
  // `monitor` must outlive the object; null: nobody watches.
  explicit Record(std::shared_ptr<spdlog::logger> log, Monitor* monitor = nullptr)
      : log_(std::move(log)), monitor_(monitor) {}

  // Logs one line about the message at level info, here broken in two:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=deliver reason=listed time_us=1.4
  //     identity=envelope authentication=dkim whitelist=customers header_from=joe@example.org
  //
  // with `fault=` for a malformed sender, `forged_headers=` where the message came with X-Bloomgate fields, where
  // signatures were verified
  //
  //     dkim=pass domain=example.org selector=s1 key_bits=2048 key_ms=12.3
  //
  // where a name below the sender's domain has signed, and that alone kept the message from delivery
  //
  //     child_signer=mg.shop.example child_of=shop.example
  //
  // where pairs were looked up `recipients=3 listed_for=2`, where a store was asked `confirmed=yes confirm_us=12.3`,
  // and then what the deeper check has to add; null: it was not asked. No byte of the sender can add a field or a line
  // to it. The message counts in the daemon's figures from then on, whatever is logged. Throws only where memory runs
  // out.
  void message(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_marks,
               const DeepOutcome* deep_check) const;

  // Logs the line of a message that is refused for its forged fields, at level warn, in the place of the other one:
  //
  //     queue_id=4XyZ1 sender=<joe@example.org> decision=refuse reason=forged-fields forged_headers=100000
  //
  // Throws only where memory runs out.
  void refusal(const DecidedMessage& made, std::string_view queue_id, std::size_t forged_fields) const;

  // A store has answered, for the whitelist of that name.
  void confirmation(std::string_view whitelist, Confirmation answer, double seconds) const noexcept;

  // Errors that no message ends with: in which step its recorder met one, and what kept it from teaching. They need no
  // memory but the log's.
  void internal_error(std::string_view where) const;
  void learning_error(std::string_view what) const noexcept;
  void suspension_error(std::string_view what) const noexcept;

 private:
  const std::shared_ptr<spdlog::logger> log_;
  Monitor* const monitor_;
};

// The words of a delivered message's sample (DeliverySample): which message it is, and why it was delivered.
std::string sampled_message(const DecidedMessage& made, std::string_view queue_id);
std::string why_delivered(const DecidedMessage& made);

}  // namespace bloomgate
