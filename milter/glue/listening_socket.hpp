// The socket to which mail servers connect. The daemon makes it itself and not through libmilter, so that a unix socket
// has its mode and group before anyone can connect, and so that errors say what to do.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <string>

#include "config/socket_address.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Whether a socket could be made there, as far as can be checked without making one. Throws as ListeningSocket() does
// for a unix socket whose folder or group is missing, or whose path is occupied by something else.
void require_place_for_socket(const SocketAddress& address, const std::string& group);

class ListeningSocket {
 public:
  // Listens on `address`. Replaces a unix socket on which no process listens any more. Throws, and changes nothing, if
  // the socket is in use or the path is not a socket. `mode` and `group` (empty: leave it) are for unix sockets only.
  // Throws BloomgateError: cannot_write, address_in_use, bad_configuration for an unknown group, unknown_host,
  // not_permitted, no_system_resource.
  ListeningSocket(const SocketAddress& address, mode_t mode, const std::string& group);

  int descriptor() const noexcept { return socket_.get(); }

 private:
  // A path in the file system, removed at the end unless another process has put another socket there meanwhile.
  class OwnPath {
   public:
    OwnPath() = default;
    ~OwnPath();
    OwnPath(const OwnPath&) = delete;
    OwnPath& operator=(const OwnPath&) = delete;
    // Takes over the socket at `path`. Returns false, with errno, if there is none.
    bool take(const std::string& path);

   private:
    std::string path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
  };

  void listen_on_path(mode_t mode, const std::string& group);
  void listen_on_network();

  SocketAddress address_;
  FileDescriptor socket_;
  OwnPath path_;
};

}  // namespace bloomgate
