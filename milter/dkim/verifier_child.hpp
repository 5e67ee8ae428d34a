// The child process in which signatures are verified. libopendkim, libunbound and OpenSSL run only here, so that a
// crash in them loses no message of other sessions and no whitelist in memory. ChildVerifier starts the child, as this
// same program with kVerifierArgument, and starts it again when it has crashed or hangs.
//
//     daemon                      control (SOCK_SEQPACKET)                       child
//     ChildOptions                        ->
//                                         <-                     "+" a description, or "-" an error
//     one end of a stream socket          ->          (for each message)         a thread takes it
//
//     then on that socket: begin, body…, end ->       <- found
//
//                                         <-                     a Note, at any time
//
// The child ends when the daemon's end of the control socket closes. It ignores the signals that stop the daemon, since
// the daemon first lets its messages end.
#pragma once

namespace bloomgate {

inline constexpr const char* kVerifierArgument = "--verify-signatures-for-the-daemon";
inline constexpr int kVerifierControl = 3;  // the descriptor of the child's end

// Runs the child to its end. Returns its exit status.
int run_verifier_child() noexcept;

}  // namespace bloomgate
