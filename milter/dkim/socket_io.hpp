// Sending and receiving on the sockets between the daemon and its verifying child. Safe from any thread.
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

// The descriptor need not be non-blocking. `before_waiting` is called at most once, before the first wait; may be
// empty.
SocketResult send_all(int descriptor, std::string_view bytes, Deadline deadline,
                      const std::function<void()>& before_waiting = nullptr) noexcept;
SocketResult receive_all(int descriptor, std::span<char> into, Deadline deadline) noexcept;

// One part of a conversation. Throws std::bad_alloc. Nothing if it did not come, or is no part.
SocketResult send_part(int descriptor, wire::Kind kind, std::string_view bytes, Deadline deadline,
                       const std::function<void()>& before_waiting = nullptr);
struct Part {
  wire::Kind kind;
  std::string bytes;
};
std::optional<Part> receive_part(int descriptor, Deadline deadline, SocketResult& result);

// Hands a copy of a descriptor to the other process. False if that is not possible now.
bool send_descriptor(int control, int descriptor) noexcept;
// Waits for one. Closed if the other end is.
FileDescriptor receive_descriptor(int control, bool& is_closed) noexcept;

// The two ends of a new connection, both closed in programs that are started. Not open if the system has none left.
std::pair<FileDescriptor, FileDescriptor> socket_pair(int type) noexcept;

}  // namespace bloomgate
