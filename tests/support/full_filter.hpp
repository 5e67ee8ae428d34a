// A filter file whose bits are all set, though its header says that hardly any is: every look-up is a hit.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include "filter/file/mapped_filter.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate::test {

// Its checksums are those of the other bits, so load it with FilterCheck::header.
inline void build_full_filter(const std::string& path) {
  build_filter(path, {"joe@example.org"});
  const Section bits = MappedFilter(path).sections().front();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(bits.offset));
  file << std::string(bits.bytes, '\xff') << std::flush;
  if (!file) throw std::runtime_error("the bits could not be set");
}

}  // namespace bloomgate::test
