// A message, decided as the daemon would decide it, without the daemon: for `--explain` and `moved`. It goes the
// daemon's own way, MessageRecorder, lists and decide().
#pragma once

#include <iosfwd>
#include <string>

#include "config/daemon_options.hpp"
#include "milter/brake/counted_sender.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/policy.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

// A decision, what it was made from, and how. The facts have views into the recorder.
struct MessageDecision {
  MessageRecorder recorder = MessageRecorder(std::nullopt);
  std::string mta_name = {};
  Facts facts = {};
  Trace trace = {};
  Decision decision = {};
  Policy policy = {};
  CountedSender sender = {};  // by which the lists would deliver it; empty where they would not
  bool is_from_assumed = false;
};

enum class WhoIsLearned {
  as_known,
  everybody,  // for each recipient: a message is then delivered unless something beside the lists is against it
};

// The envelope and the options are those of `command.explain`. Where these have neither a From nor an
// Authentication-Results field, the header is read from `message`, unless that is null. If there is no message at all,
// its From is taken to be the envelope sender. Suspensions count only with WhoIsLearned::as_known.
//
// Of a whitelist the header is checked only, as by --check-config. Throws config_error() where neither the options nor
// the message name the envelope sender, and what loading the lists throws.
void decide_message(MessageDecision& decided, const DaemonCommand& command, std::istream* message,
                    WhoIsLearned learned = WhoIsLearned::as_known);

}  // namespace bloomgate
