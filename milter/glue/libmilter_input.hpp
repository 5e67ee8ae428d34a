// Stands between libmilter and the mail servers, and sees first what libmilter accepts and reads. libmilter calls
// accept(2), poll(2), read(2) and close(2), and the daemon defines these four functions itself: the dynamic linker
// prefers a program's own function to the C library's. They behave as the C library's do, except on libmilter's
// listener and its connections:
//
// - A connection with unpaired macros (packet_check.hpp) ends before libmilter has read the last of them. Relaying each
//   packet through a socket of our own would do the same, but costs two more descriptors a connection and two more
//   thread switches a step; libmilter's own functions do not reveal what they would read.
// - What a mail server has sent in one piece is read in one piece. libmilter alone needs four system calls for each
//   step; a message has a dozen steps.
// - If descriptors run short, a new connection is ended at once. libmilter alone would leave it waiting, and retry
//   without a pause.
// - A callback learns which connection it is for, which libmilter does not say.
//
// If another version of libmilter read in another way, callbacks would not learn their connection, and then macros are
// not requested (libmilter_context.cpp). If it waited in another way, nothing would be read ahead.
//
// This is glue. Safe from any thread, except guard_libmilter().
#pragma once

namespace bloomgate {

class ConnectionWatch;

// `listener` is the descriptor that libmilter gets. `watch` counts the connections that are ended; it must live until
// the process ends. To be called once, before libmilter starts. Throws BloomgateError{library_failed} if libmilter
// would not call the functions of this program; std::bad_alloc.
void guard_libmilter(int listener, ConnectionWatch& watch);

// The connection from which the calling thread has read last: in a callback, the connection that the callback is for.
// -1 if there is none.
int socket_of_callback() noexcept;

// Sets it. For tests, which run without libmilter.
void set_socket_of_callback(int socket) noexcept;

}  // namespace bloomgate
