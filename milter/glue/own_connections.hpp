// The connections to our own socket among the descriptors of this process. libmilter accepts and closes them, and does
// not say which they are; any of them may be closed at any time, and its number reused for another file.
#pragma once

#include <dirent.h>

#include <functional>
#include <memory>
#include <string>

namespace bloomgate {

class OwnConnections {
 public:
  // Selects the connections to `listener`, which must stay open; before this call there are none. Returns false, with
  // errno, if they cannot be found; for_each() then finds none. This call opens the folder of descriptors, while one is
  // free: idle connections may use up all others.
  bool listen_on(int listener);

  // -1: none yet.
  int listener() const noexcept { return listener_; }

  // Whether the descriptor is such a connection. Safe from any thread.
  bool is_one(int descriptor) const noexcept;

  // One thread at a time.
  bool can_be_found() const noexcept { return folder_ != nullptr; }
  void for_each(const std::function<void(int)>& use) const;

  // The descriptor of the folder, which is not a connection.
  int folder_descriptor() const noexcept { return folder_ ? dirfd(folder_.get()) : -1; }

 private:
  int listener_ = -1;
  std::string address_;                                            // of the listener, as getsockname(2) has it
  std::unique_ptr<DIR, int (*)(DIR*)> folder_{nullptr, closedir};  // /proc/self/fd
};

}  // namespace bloomgate
