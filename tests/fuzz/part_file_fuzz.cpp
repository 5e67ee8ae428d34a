// Reads arbitrary bytes as the header of a part of a filter. The checksum is made right, since no fuzzer finds it by
// chance. A header that is taken is one that a part can have: its range is within its filter, and it is written as it
// was read.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/engine/part_file.hpp"

using namespace bloomgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<std::byte, kHeaderBytes> bytes = {};
  std::transform(data, data + std::min(size, bytes.size()), bytes.begin(), [](std::uint8_t b) { return std::byte{b}; });
  constexpr std::size_t kChecksumAt = kHeaderBytes - 8;
  store_little_endian(bytes.data() + kChecksumAt, checksum(std::span(bytes).first(kChecksumAt)));
  try {
    const PartHeader header = decode_part_header(bytes, "part");
    const std::uint64_t blocks = header.filter.shape.block_count;
    if (header.range.count == 0 || header.range.count > blocks || header.range.first > blocks - header.range.count) {
      std::abort();
    }
    body_bytes(header.filter.shape);
    std::array<std::byte, kHeaderBytes> again = {};
    encode_part_header(header, again);
    if (decode_part_header(again, "part") != header) std::abort();
  } catch (const BloomgateError&) {
  }
  return 0;
}
