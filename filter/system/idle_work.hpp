// Work for many threads that must not hold others up, such as the check of a whitelist beside mail.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace bloomgate {

// From now on the calling thread, and each that it starts, gets a processor when nobody else wants one (SCHED_IDLE of
// sched(7)). That needs no privilege, but to take it back does. Where the system refuses it, nothing changes.
void run_only_when_idle() noexcept;

// Calls `work(item)` for every item in [0, count), handed out one by one to `threads` threads that run only when a
// processor is idle, and waits for all. If they have not taken the last item after `patience`, or cannot be started,
// the calling thread takes items as well, with the priority that it has. So the end comes on a machine that is never
// idle, too, as soon as the others are done with what they are at. After an exception no further items are handed out,
// and the first one is thrown here.
void for_each_when_idle(unsigned threads, std::size_t count, std::chrono::milliseconds patience,
                        const std::function<void(std::size_t)>& work);

}  // namespace bloomgate
