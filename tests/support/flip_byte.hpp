// Damage done to a file in place, for tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate::test {

// Changes the lowest bit of the byte at `offset`.
inline void flip_byte(const std::string& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(byte ^ 1));
  REQUIRE(file.flush());
}

}  // namespace bloomgate::test
