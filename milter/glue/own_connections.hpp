// The connections to our own socket among the descriptors of this process. libmilter accepts and closes them, and does
// not say which they are; any of them may be closed, and its number be given to another file, at any time.
#pragma once

#include <dirent.h>

#include <functional>
#include <memory>
#include <string>

namespace bloomgate {

class OwnConnections {
 public:
  // Those to `listener`, which must stay open; until then there are none. Returns false, with errno, if they cannot be
  // found: then for_each() finds none. The folder is opened while there is a descriptor for it: connections that say
  // nothing may take all others.
  bool listen_on(int listener);

  // -1: none yet.
  int listener() const noexcept { return listener_; }

  // Whether the descriptor is such a connection. Safe from any thread.
  bool is_one(int descriptor) const noexcept;

  // One thread at a time.
  bool can_be_found() const noexcept { return folder_ != nullptr; }
  void for_each(const std::function<void(int)>& use) const;

  // Of the folder, which is no connection.
  int folder_descriptor() const noexcept { return folder_ ? dirfd(folder_.get()) : -1; }

 private:
  int listener_ = -1;
  std::string address_;                                            // of the listener, as getsockname(2) has it
  std::unique_ptr<DIR, int (*)(DIR*)> folder_{nullptr, closedir};  // /proc/self/fd
};

}  // namespace bloomgate
