// Numbers as people type and read them, for the program `bloomgate`. Pure functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace bloomgate::cli {

// "1000000", "1e9", "2.5e6": a whole number from 0 to 2^63. Throws UsageError that names `option`.
std::uint64_t parse_count(const std::string& text, const std::string& option);

// "123", "0x7b": any 64-bit number. Throws UsageError that names `option`.
std::uint64_t parse_seed(const std::string& text, const std::string& option);

// "1048576", "64M", "1.5GiB", "2G" (K, M, G, T are powers of 1024): bytes, at least 1. Throws UsageError.
std::uint64_t parse_bytes(const std::string& text, const std::string& option);

// "0.01", "1%", "1e-3": a probability between 0 and 1, both excluded. Throws UsageError.
double parse_rate(const std::string& text, const std::string& option);

std::string format_count(std::uint64_t count);        // "1,234,567"
std::string format_count(double count);               // the same, rounded; "unknown" for infinity
std::string format_bytes(std::uint64_t bytes);        // "1.00 GiB (1,073,741,824 bytes)"
std::string format_short_bytes(std::uint64_t bytes);  // "1.00 GiB"
std::string format_rate(double probability);          // "2.16 %", with three significant digits
std::string format_decimal(double value, int decimals);
std::string format_time(std::time_t time);    // "2026-11-21 10:15:00 UTC"
std::string format_seed(std::uint64_t seed);  // "0x00000000075bcd15"

}  // namespace bloomgate::cli
