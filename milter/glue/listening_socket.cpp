#include "milter/glue/listening_socket.hpp"

#include <grp.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

constexpr int kSocketType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

// The remedy for an error of bind(2) or listen(2); empty if the system's message is enough.
std::string remedy(const SocketAddress& address, int errno_value) {
  const bool is_path = address.family == SocketAddress::Family::unix_path;
  if (errno_value == ENOENT && is_path) return "; make the folder " + folder_of(address.path);
  if (errno_value == EACCES && is_path)
    return "; the daemon's user must be able to write to " + folder_of(address.path);
  if (errno_value == EACCES) return "; ports below 1024 are for root: take one above";
  if (errno_value == EADDRINUSE) return "; another program has that port (ss -tlnp names it): stop it, or take another";
  if (errno_value == EADDRNOTAVAIL) return "; this machine has no such address (ip address lists them)";
  return {};
}

[[noreturn]] void fail(ErrorCode code, const SocketAddress& address, const std::string& what, int errno_value = 0) {
  std::string text = "socket " + printable(to_string(address)) + ": " + what;
  if (errno_value != 0) text += ": " + std::generic_category().message(errno_value) + remedy(address, errno_value);
  throw BloomgateError(code, text, {.path = address.path});
}

sockaddr_un path_address(const std::string& path) noexcept {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());  // parse_socket_address() has checked its length
  return address;
}

const sockaddr* generic(const sockaddr_un& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

// The error of connect(2) to the path: 0 if a process listens there.
int connect_error(const std::string& path) noexcept {
  const FileDescriptor probe(socket(AF_UNIX, kSocketType, 0));
  const sockaddr_un target = path_address(path);
  return connect(probe.get(), generic(target), sizeof target) == 0 ? 0 : errno;
}

// Whether there is a socket at that path. Anything else at that path is an error.
bool is_there(const SocketAddress& address) {
  struct stat status = {};
  if (lstat(address.path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    fail(ErrorCode::cannot_write, address, "cannot be looked at", errno);
  }
  if (!S_ISSOCK(status.st_mode)) {
    fail(ErrorCode::cannot_write, address,
         "there is something at this path that is not a socket; it is left alone: remove it, or name another path");
  }
  return true;
}

// Makes room for the socket: removes a socket that a daemon left behind, and nothing else.
void remove_stale_path(const SocketAddress& address) {
  if (!is_there(address)) return;
  const int error = connect_error(address.path);
  if (error == 0 || error == EAGAIN) {
    fail(ErrorCode::address_in_use, address, "another program listens on it; is bloomgate-milter running already?");
  }
  if (error != ECONNREFUSED)
    fail(ErrorCode::cannot_write, address, "cannot tell whether the socket there is in use", error);
  if (unlink(address.path.c_str()) != 0)
    fail(ErrorCode::cannot_write, address, "cannot remove the stale socket", errno);
}

gid_t group_id(const SocketAddress& address, const std::string& name) {
  std::vector<char> buffer(16384);
  group entry = {};
  group* found = nullptr;
  const int error = getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    fail(ErrorCode::bad_configuration, address,
         "socket-group: there is no group '" + printable(name) + "' on this machine; getent group lists them", error);
  }
  return entry.gr_gid;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};

std::unique_ptr<addrinfo, FreeAddresses> resolve(const SocketAddress& address) {
  addrinfo hints = {};
  hints.ai_family = address.family == SocketAddress::Family::inet ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0) fail(ErrorCode::unknown_host, address, std::string("the host is not known: ") + gai_strerror(error));
  return std::unique_ptr<addrinfo, FreeAddresses>(list);
}

}  // namespace

void require_place_for_socket(const SocketAddress& address, const std::string& group) {
  if (address.family != SocketAddress::Family::unix_path) return;
  if (!group.empty()) static_cast<void>(group_id(address, group));
  const std::string folder = folder_of(address.path);
  // systemd creates such folders at the start.
  const bool is_made_at_start = folder.starts_with("/run/") || folder.starts_with("/var/run/");
  if (!is_made_at_start && access(folder.c_str(), F_OK) != 0) {
    fail(ErrorCode::cannot_write, address, "cannot be created", errno);
  }
  if (access(folder.c_str(), X_OK) == 0) static_cast<void>(is_there(address));
}

ListeningSocket::ListeningSocket(const SocketAddress& address, mode_t mode, const std::string& group)
    : address_(address) {
  if (address.family == SocketAddress::Family::unix_path) {
    listen_on_path(mode, group);
  } else {
    listen_on_network();
  }
}

void ListeningSocket::listen_on_path(mode_t mode, const std::string& group) {
  const gid_t group_to_set = group.empty() ? static_cast<gid_t>(-1) : group_id(address_, group);
  remove_stale_path(address_);
  socket_.reset(socket(AF_UNIX, kSocketType, 0));
  const char* const path = address_.path.c_str();
  const sockaddr_un target = path_address(address_.path);
  // No client can connect before listen() below, whatever the permissions are until then; the mask is a second
  // safeguard.
  const mode_t old_mask = umask(0777);
  const int error = bind(socket_.get(), generic(target), sizeof target) == 0 ? 0 : errno;
  umask(old_mask);
  if (error != 0) fail(ErrorCode::cannot_write, address_, "cannot be created", error);
  if (!path_.take(address_.path)) fail(ErrorCode::cannot_write, address_, "cannot be looked at", errno);
  if (!group.empty() && chown(path, static_cast<uid_t>(-1), group_to_set) != 0) {
    fail(ErrorCode::not_permitted, address_,
         "cannot be given to the group '" + printable(group) + "' (the daemon's user must be a member of it)", errno);
  }
  if (chmod(path, mode) != 0) fail(ErrorCode::not_permitted, address_, "cannot be given its mode", errno);
  if (listen(socket_.get(), SOMAXCONN) != 0) fail(ErrorCode::no_system_resource, address_, "cannot listen", errno);
}

void ListeningSocket::listen_on_network() {
  const auto list = resolve(address_);
  socket_.reset(socket(list->ai_family, kSocketType, 0));
  if (!socket_.is_open()) fail(ErrorCode::no_system_resource, address_, "cannot be created", errno);
  const int on = 1;
  // A port that a daemon has just released can be used again at once.
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket_.get(), list->ai_addr, list->ai_addrlen) != 0 || listen(socket_.get(), SOMAXCONN) != 0) {
    fail(errno == EADDRINUSE ? ErrorCode::address_in_use : ErrorCode::cannot_write, address_, "cannot listen", errno);
  }
}

bool ListeningSocket::OwnPath::take(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return false;
  path_ = path;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

ListeningSocket::OwnPath::~OwnPath() {
  struct stat status = {};
  if (path_.empty() || lstat(path_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) unlink(path_.c_str());
}

}  // namespace bloomgate
