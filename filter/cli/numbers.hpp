// Numbers as people type them, for the program `bloomgate`. Pure functions.
#pragma once

#include <cstdint>
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

}  // namespace bloomgate::cli
