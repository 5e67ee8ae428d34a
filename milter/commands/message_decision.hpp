// A message, decided as the daemon would decide it, without the daemon: for `explain` and `moved`. It goes the
// daemon's own way, MessageRecorder, lists and decide().
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "config/daemon_options.hpp"
#include "milter/brake/counted_sender.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/judge/judge.hpp"
#include "milter/lists/loaded_lists.hpp"
#include "milter/message/message_recorder.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {

// A decision, what it was made from, and how. The facts have views into the recorder.
struct MessageDecision {
  MessageRecorder recorder = MessageRecorder(std::nullopt);
  std::string mta_name = {};
  JudgeRules rules = {};
  std::shared_ptr<const LoadedLists> lists = {};
  Facts facts = {};
  Trace first_steps = {};  // those before the lists are asked
  Trace trace = {};
  Decision decision = {};
  CountedSender sender = {};  // by which the lists deliver it; empty where they do not
  bool is_from_assumed = false;
};

struct Assumed {
  bool from_is_learned = false;  // the recipients have written to the From mailbox
  bool none_is_suspended = false;
};

// The envelope and the options are those of `command.explain`. Where these have neither a From nor an
// Authentication-Results field, the header is read from `message`, unless that is null. If there is no message at all,
// its From is taken to be the envelope sender.
//
// Of a whitelist the header is checked only, as by `check-config`. Throws config_error() where neither the options nor
// the message name the envelope sender, and what loading the lists throws.
void decide_message(MessageDecision& made, const DaemonCommand& command, std::istream* message, Assumed assumed = {});

// Decides the same message with other assumptions. Its signatures stay those that were verified: assume first what asks
// for most. Throws as decide_message().
void decide_again(MessageDecision& made, const DaemonCommand& command, Assumed assumed);

// The lists of the configuration; of a whitelist the header is checked only. Throws what loading the lists throws.
std::shared_ptr<const LoadedLists> loaded_lists(const DaemonOptions& options);

// Who is suspended; none where that is off, or where the caller may not read the file.
Suspensions suspensions_of(const DaemonOptions& options);

}  // namespace bloomgate
