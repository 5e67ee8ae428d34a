// Work for many threads that must not delay other work, such as the check of a whitelist while mail arrives.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace bloomgate {

// From now on the calling thread, and each thread that it starts, gets a processor only if no other thread needs it
// (SCHED_IDLE of sched(7)). That needs no privilege, but to undo it does. If the system refuses it, nothing changes.
void run_only_when_idle() noexcept;

// Calls `work(item)` for every item in [0, count), handed out one by one to `threads` threads that run only when a
// processor is idle, and waits for all. If the last item is not handed out after `patience`, or if the threads cannot
// be started, the calling thread also processes items, with its own priority. So the work ends on a machine that is
// never idle, too, as soon as the other threads have finished their current items. After an exception no further items
// are handed out, and the first exception is thrown here.
void for_each_when_idle(unsigned threads, std::size_t count, std::chrono::milliseconds patience,
                        const std::function<void(std::size_t)>& work);

}  // namespace bloomgate
