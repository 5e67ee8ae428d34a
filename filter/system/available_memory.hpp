// How much memory this process can get: what is free, within its limits (ulimit -v, the memory limits of systemd and
// containers). Safe from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace bloomgate {

// In bytes; the largest number if it is not known. An estimate, since other programs allocate and free memory all the
// time.
// `root` is where /proc and /sys are, for tests.
std::uint64_t available_memory(const std::string& root = "");

}  // namespace bloomgate
