// Reads the pending events of an inotify(7) descriptor. For one thread.
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace bloomgate {

// Calls `use(event, name)` for each event. `name` is the name of the file in a watched folder, if the event has one
// (event.len is not 0). Does not wait; `descriptor` must be non-blocking.
template <typename Use>
void for_each_inotify_event(int descriptor, Use use) {
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t size = read(descriptor, buffer, sizeof buffer);
    if (size <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const char* const name = buffer + at + sizeof event;
      at += sizeof event + event.len;
      use(event, name);
    }
  }
}

}  // namespace bloomgate
