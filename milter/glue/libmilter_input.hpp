// Stands between libmilter and the mail servers: what libmilter accepts and reads comes here first. libmilter calls
// accept(2), poll(2), read(2) and close(2), and the daemon defines these four: the dynamic linker takes a program's own
// function before the C library's. They do what the C library's do, but on libmilter's listener and its connections:
//
// - A connection with unpaired macros (packet_check.hpp) ends before libmilter has read the last of them. Relaying each
//   packet through a socket of our own would do the same, for two more descriptors a connection and two more switches
//   of threads a step; libmilter's own functions say nothing of what they would read.
// - What a mail server has sent in one piece is read in one piece. libmilter alone takes four calls of the system for
//   each step; a message has a dozen.
// - Where descriptors run short a new connection is ended at once. libmilter alone would leave it waiting, and ask for
//   it again without a pause.
// - A callback learns which connection it is for, which libmilter does not tell.
//
// Where another libmilter read in another way, no callback would learn of its connection; macros are then not asked for
// (libmilter_context.cpp). Where it waited in another way, nothing would be read ahead.
//
// This is glue. Safe from any thread, but for guard_libmilter().
#pragma once

namespace bloomgate {

class ConnectionWatch;

// `listener` is the descriptor that libmilter is given, and `watch` is told what is ended; it must live until the
// process ends. Once, before libmilter starts. Throws BloomgateError{library_failed} where libmilter would not call the
// functions of this program; std::bad_alloc.
void guard_libmilter(int listener, ConnectionWatch& watch);

// The connection that the calling thread has read from last: in a callback, the one that it is for. -1 if there is
// none.
int socket_of_callback() noexcept;

// Sets it. For tests, behind which there is no libmilter.
void set_socket_of_callback(int socket) noexcept;

}  // namespace bloomgate
