// Numbers as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace bloomgate {

std::string format_count(std::uint64_t count);        // "1,234,567"
std::string format_count(double count);               // the same, rounded; "unknown" for infinity
std::string format_bytes(std::uint64_t bytes);        // "1.00 GiB (1,073,741,824 bytes)"
std::string format_short_bytes(std::uint64_t bytes);  // "1.00 GiB"
std::string format_rate(double probability);          // "2.16 %", with three significant digits
std::string format_decimal(double value, int decimals);
std::string format_time(std::time_t time);    // "2026-11-21 10:15:00 UTC"
std::string format_seed(std::uint64_t seed);  // "0x00000000075bcd15"

}  // namespace bloomgate
