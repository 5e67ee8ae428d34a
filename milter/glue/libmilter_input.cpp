#include "milter/glue/libmilter_input.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"
#include "milter/glue/connection_watch.hpp"
#include "milter/glue/packet_check.hpp"

namespace bloomgate {
namespace {

using Read = ssize_t(int, void*, std::size_t);

// Data of a connection that was read before libmilter asked for it. A mail server sends many steps at once, and
// libmilter asks for each in two parts, so one read(2) serves them all.
class Ahead {
 public:
  bool is_empty() const noexcept { return begin_ == end_; }

  // As read(2).
  ssize_t read(Read* real, int descriptor, void* into, std::size_t bytes) noexcept {
    if (is_empty()) {
      if (bytes >= kBytes || !has_room()) return real(descriptor, into, bytes);
      const ssize_t got = real(descriptor, room_.get(), kBytes);
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
    }
    const std::size_t given = std::min(bytes, end_ - begin_);
    std::memcpy(into, room_.get() + begin_, given);
    begin_ += given;
    return static_cast<ssize_t>(given);
  }

 private:
  static constexpr std::size_t kBytes = 8192;  // twice what Postfix sends in one write

  bool has_room() noexcept {
    if (room_ == nullptr) room_.reset(new (std::nothrow) unsigned char[kBytes]);
    return room_ != nullptr;
  }

  std::unique_ptr<unsigned char[]> room_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// One for each descriptor that a connection may have. Only the thread that reads the connection uses it; libmilter
// passes the connection from one thread to the next.
struct Stream {
  std::atomic<bool> is_open{false};
  PacketCheck packets;
  Ahead ahead;
  // Before a read, libmilter asks whether there is data. Only if it asks with poll(2) can it be told about data that
  // was read ahead.
  bool is_polled = false;
};

class Guard {
 public:
  Guard(int listener, int descriptors, ConnectionWatch& watch)
      : listener_(listener),
        limit_(descriptors - std::min(kMostSpare, descriptors / 4)),
        streams_(std::make_unique<Stream[]>(static_cast<std::size_t>(limit_))),
        watch_(watch),
        reserve_(fcntl(listener, F_DUPFD_CLOEXEC, 0)) {}

  bool is_listener(int descriptor) const noexcept { return descriptor == listener_; }

  Stream* stream(int descriptor) noexcept {
    if (descriptor < 0 || descriptor >= limit_) return nullptr;
    Stream& found = streams_[static_cast<std::size_t>(descriptor)];
    return found.is_open.load(std::memory_order_acquire) ? &found : nullptr;
  }

  // `socket` is a connection that was accepted, or -1 with errno. Returns it, unless the connection is ended here: then
  // returns -1, and libmilter waits for the next one.
  int admit(int socket) noexcept {
    if (socket < 0 && (errno == EMFILE || errno == ENFILE)) return end_without_descriptor();
    if (socket < 0) return socket;
    // The system uses the lowest free number, so all below it are in use. The remaining ones are for what messages
    // need.
    if (socket >= limit_) return end(socket);
    Stream& stream = streams_[static_cast<std::size_t>(socket)];
    // Actions of the thread that closed the earlier connection with this number must be visible here.
    static_cast<void>(stream.is_open.load(std::memory_order_acquire));
    stream.packets = PacketCheck();
    stream.ahead = Ahead();
    stream.is_polled = false;
    stream.is_open.store(true, std::memory_order_release);
    return socket;
  }

  void refuse(int socket) noexcept {
    shutdown(socket, SHUT_RDWR);
    watch_.note_unpaired_macros();
  }

 private:
  static constexpr int kMostSpare = 64;
  static constexpr int kPauseMilliseconds = 100;

  int end(int socket) noexcept {
    close(socket);
    watch_.note_without_descriptor();
    errno = EAGAIN;
    return -1;
  }

  int end_without_descriptor() noexcept {
    reserve_.reset();
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      end(socket);
    } else {
      poll(nullptr, 0, kPauseMilliseconds);  // another thread has accepted it
    }
    reserve_.reset(fcntl(listener_, F_DUPFD_CLOEXEC, 0));
    errno = EAGAIN;
    return -1;
  }

  const int listener_;
  const int limit_;  // the limit on the numbers of connections
  const std::unique_ptr<Stream[]> streams_;
  ConnectionWatch& watch_;
  FileDescriptor reserve_;  // a duplicate of the listener, closed when a connection that is to be ended needs it
};

constexpr rlim_t kMostDescriptors = 1 << 16;

std::atomic<Guard*> guard = nullptr;  // never destroyed: libmilter's threads use it until the process ends
thread_local int current = -1;

// The C library's function of that name, or a sanitizer's.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

int socket_of_callback() noexcept {
  return current;
}

void set_socket_of_callback(int socket) noexcept {
  current = socket;
}

// Their linker names are those of the C library's functions, of which <unistd.h> may have inline variants.
extern "C" {

__attribute__((visibility("default"))) int bloomgate_accept(int listener, sockaddr* address,
                                                            socklen_t* bytes) __asm__("accept");
__attribute__((visibility("default"))) ssize_t bloomgate_read(int descriptor, void* into,
                                                              std::size_t bytes) __asm__("read");
__attribute__((visibility("default"))) ssize_t bloomgate_read_chk(int descriptor, void* into, std::size_t bytes,
                                                                  std::size_t room) __asm__("__read_chk");
__attribute__((visibility("default"))) int bloomgate_poll(pollfd* which, nfds_t count,
                                                          int milliseconds) __asm__("poll");
__attribute__((visibility("default"))) int bloomgate_close(int descriptor) __asm__("close");

int bloomgate_accept(int listener, sockaddr* address, socklen_t* bytes) {
  static auto* const real = next<int(int, sockaddr*, socklen_t*)>("accept");
  const int socket = real(listener, address, bytes);
  Guard* const found = guard.load(std::memory_order_acquire);
  return found != nullptr && found->is_listener(listener) ? found->admit(socket) : socket;
}

ssize_t bloomgate_read(int descriptor, void* into, std::size_t bytes) {
  static auto* const real = next<Read>("read");
  Guard* const found = guard.load(std::memory_order_acquire);
  Stream* const stream = found == nullptr ? nullptr : found->stream(descriptor);
  if (stream == nullptr) return real(descriptor, into, bytes);
  const ssize_t got =
      stream->is_polled ? stream->ahead.read(real, descriptor, into, bytes) : real(descriptor, into, bytes);
  current = descriptor;
  if (got <= 0) return got;
  if (stream->packets.take({static_cast<const unsigned char*>(into), static_cast<std::size_t>(got)})) return got;
  found->refuse(descriptor);
  return 0;  // as if the mail server had ended it
}

// What a library that was compiled with _FORTIFY_SOURCE may call instead.
ssize_t bloomgate_read_chk(int descriptor, void* into, std::size_t bytes, std::size_t room) {
  if (bytes > room) std::abort();
  return bloomgate_read(descriptor, into, bytes);
}

// libmilter asks about the connection of one thread separately. If it asks about all connections without a thread, no
// data was read ahead for them: a thread keeps a connection until there is nothing more to read.
int bloomgate_poll(pollfd* which, nfds_t count, int milliseconds) {
  static auto* const real = next<int(pollfd*, nfds_t, int)>("poll");
  Guard* const found = guard.load(std::memory_order_acquire);
  if (found == nullptr || count != 1 || (which->events & POLLIN) == 0) return real(which, count, milliseconds);
  Stream* const stream = found->stream(which->fd);
  if (stream == nullptr) return real(which, count, milliseconds);
  stream->is_polled = true;
  if (stream->ahead.is_empty()) return real(which, count, milliseconds);
  which->revents = POLLIN;
  return 1;
}

int bloomgate_close(int descriptor) {
  static auto* const real = next<int(int)>("close");
  Guard* const found = guard.load(std::memory_order_acquire);
  if (Stream* const stream = found == nullptr ? nullptr : found->stream(descriptor)) {
    stream->ahead = Ahead();
    stream->is_open.store(false, std::memory_order_release);
  }
  return real(descriptor);
}
}

void guard_libmilter(int listener, ConnectionWatch& watch) {
  // The linker makes a function visible to libmilter unless an option prevents it.
  const auto is_ours = [](const char* name, auto* function) {
    return dlsym(RTLD_DEFAULT, name) == reinterpret_cast<void*>(function);
  };
  if (!is_ours("accept", &bloomgate_accept) || !is_ours("poll", &bloomgate_poll) || !is_ours("read", &bloomgate_read) ||
      !is_ours("close", &bloomgate_close)) {
    throw BloomgateError(ErrorCode::library_failed,
                         "libmilter does not read through this program: it was linked wrongly");
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kMostDescriptors;
  const auto descriptors = static_cast<int>(std::min(limit.rlim_cur, kMostDescriptors));
  guard.store(new Guard(listener, descriptors, watch), std::memory_order_release);
}

}  // namespace bloomgate
