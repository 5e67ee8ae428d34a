#include "milter/glue/own_connections.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>

namespace bloomgate {
namespace {

// What all connections to one socket have in common: the family and the port, or the path. Empty if the descriptor is
// not such a socket.
std::string own_address(int descriptor) {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return {};
  if (address.ss_family == AF_INET) {
    return fmt::format("4:{}", reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return fmt::format("6:{}", reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  if (address.ss_family != AF_UNIX || bytes <= sizeof(sa_family_t)) return {};
  return {reinterpret_cast<const char*>(&address), std::min<std::size_t>(bytes, sizeof address)};
}

bool listens(int descriptor) noexcept {
  int value = 0;
  socklen_t bytes = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &bytes) == 0 && value != 0;
}

}  // namespace

bool OwnConnections::listen_on(int listener) {
  address_ = own_address(listener);
  listener_ = listener;
  folder_.reset(opendir("/proc/self/fd"));
  return folder_ != nullptr;
}

bool OwnConnections::is_one(int descriptor) const noexcept {
  try {
    return descriptor >= 0 && !address_.empty() && own_address(descriptor) == address_ && !listens(descriptor);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void OwnConnections::for_each(const std::function<void(int)>& use) const {
  if (!folder_) return;
  rewinddir(folder_.get());
  while (const dirent* const entry = readdir(folder_.get())) {
    const std::string_view name = entry->d_name;
    int descriptor = -1;
    const bool is_number = std::from_chars(name.data(), name.data() + name.size(), descriptor).ec == std::errc();
    if (is_number && is_one(descriptor)) use(descriptor);
  }
}

}  // namespace bloomgate
