// `bloomgate-milter --explain`: the decision on one message as the daemon would make it, step by step. It goes the
// daemon's own way, MessageRecorder, lists and decide(), beside any daemon that runs. Called by main.cpp.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// Writes the steps and the decision to `out`, as policy/explain.hpp shows them, and the sentence of why_sentence.hpp.
// The message is what the command line tells; where that has neither a From nor an Authentication-Results field, its
// header is read from `message`, unless that is null. If there is no message at all, its From is taken to be the
// envelope sender, and the sentence says so.
//
// Of a whitelist the header is checked only, as by --check-config. Throws config_error() where the command line names
// no envelope sender and the message neither, and what loading the lists throws.
void explain(const DaemonCommand& command, std::istream* message, std::ostream& out);

// The sentence alone, of a message that has this envelope sender, the same From, and nothing else. Throws what loading
// the lists throws.
std::string explained_sentence(const DaemonCommand& command, const std::string& address);

}  // namespace bloomgate
