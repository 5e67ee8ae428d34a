// Sends and receives on the sockets between the daemon and its verifier child. Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "filter/system/file_descriptor.hpp"
#include "milter/dkim/wire.hpp"

namespace bloomgate {

enum class SocketResult { done, closed, timed_out };

using Deadline = std::chrono::steady_clock::time_point;

// The descriptor need not be non-blocking. `before_waiting` is called at most once, before the first wait; it may be
// empty.
SocketResult send_all(int descriptor, std::string_view bytes, Deadline deadline,
                      const std::function<void()>& before_waiting = nullptr) noexcept;
SocketResult receive_all(int descriptor, std::span<char> into, Deadline deadline) noexcept;

// Send and receive one part of a conversation. Throw std::bad_alloc. receive_part() returns nothing if no part came, or
// an invalid one.
SocketResult send_part(int descriptor, wire::Kind kind, std::string_view bytes, Deadline deadline,
                       const std::function<void()>& before_waiting = nullptr);
struct Part {
  wire::Kind kind;
  std::string bytes;
};
std::optional<Part> receive_part(int descriptor, Deadline deadline, SocketResult& result);

// Passes a copy of a descriptor to the other process. Returns false if that is impossible now.
bool send_descriptor(int control, int descriptor) noexcept;
// Waits for a descriptor. `is_closed` becomes true if the other end is closed.
FileDescriptor receive_descriptor(int control, bool& is_closed) noexcept;

// The two ends of a new connection, both close-on-exec. Not open if the system has no resources left.
std::pair<FileDescriptor, FileDescriptor> socket_pair(int type) noexcept;

}  // namespace bloomgate
