#include "milter/glue/pool_waker.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

void PoolWaker::wake() const noexcept {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  if (getsockname(connections_.listener(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return;
  // The socket is non-blocking: a network connection may still be in progress here, and the listener sees it come and
  // go.
  const FileDescriptor caller(socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (caller.is_open()) static_cast<void>(connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), bytes));
}

std::size_t PoolWaker::wake_forgotten() const noexcept {
  std::size_t forgotten = 0;
  connections_.for_each([&forgotten](int descriptor) {
    int bytes = 0;
    if (ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0) ++forgotten;
  });
  for (std::size_t each = 0; each < forgotten; ++each) wake();
  return forgotten;
}

}  // namespace bloomgate
