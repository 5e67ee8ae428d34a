// What `bloomgate-milter` does beside serving: one function for each, called by main.cpp. All work beside any daemon
// that runs.
#pragma once

#include <iosfwd>
#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// `check-config`: whether the daemon could start with a configuration, and what of it needs action. Writes what it
// finds for a person. Throws BloomgateError for what the daemon would refuse.
void check_config(const DaemonCommand& command, std::ostream& out);

// `explain`: the decision on one message as the daemon would make it, step by step. It goes the daemon's own way,
// MessageRecorder, lists and decide().
//
// Writes the steps and the decision to `out`, as policy/explain.hpp shows them, and the sentence of why_sentence.hpp.
// The message is what the command line tells; where that has neither a From nor an Authentication-Results field, its
// header is read from `message`, unless that is null. If there is no message at all, its From is taken to be the
// envelope sender, and the sentence says so.
//
// Of a whitelist the header is checked only, as by `check-config`. Throws config_error() where the command line names
// no envelope sender and the message neither, and what loading the lists throws.
void explain(const DaemonCommand& command, std::istream* message, std::ostream& out);

// The sentence alone, of a message that has this envelope sender, the same From, and nothing else. Throws what loading
// the lists throws.
std::string explained_sentence(const DaemonCommand& command, const std::string& address);

// `add|remove|revoke|unrevoke|opt-out|opt-in ENTRY...`: an operator edits an exact list of the configuration, and a
// running daemon has it within a second.
//
// Makes the change, and writes what became of each entry to `out`. Returns the exit status: EX_OK also if there was
// nothing to change; 1 if an address that was taken out is still covered by another entry of the list. Throws
// config_error() if the configuration names no such list, and what edit_list_file() and entries_of_words() throw.
int edit_list(const DaemonCommand& command, std::ostream& out);

// `suspended list|add|clear [ENTRY...]`: the senders whose mail is checked for a while, in the file of the
// configuration. A running daemon has a change within a second. Returns the exit status: 1 if an entry to clear was not
// suspended. Throws what edit_suspensions() and entries_of_words() throw.
int suspended(const DaemonCommand& command, std::ostream& out);

// `moved junk|inbox USER`: a user has moved a message into Junk, or out of it. If it proves its sender, as a message
// would have to that is delivered by a list, its sender is suspended for this user, or listed for this user alone, as
// if the user had written to it. Otherwise nothing changes, and `out` gets the reason. Throws what decide_message(),
// edit_suspensions() and LearnedFile throw, and config_error() where the user is no address.
void moved(const DaemonCommand& command, std::istream& message, std::ostream& out);

// `reload`: has the daemon reload, and tells what became of it. Returns the exit status. A faulty configuration is
// refused here, where the file and the line can be told, and the daemon is not asked. Throws BloomgateError.
int reload(const DaemonCommand& command);

// `why QUEUE-ID|ADDRESS`: why messages were treated so, from the daemon's log.
//
// Reads the named logs, where `-` is `standard_input`; without names the usual files of syslog, and the journal if
// these do not have the message. Returns the exit status: 1 if no message was found. Throws
// BloomgateError{cannot_open, cannot_read, bad_input} for a named log.
int why(const DaemonCommand& command, std::istream& standard_input, std::ostream& out);

}  // namespace bloomgate
