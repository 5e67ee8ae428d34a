#include "filter/address/plain_pair_line.hpp"

namespace bloomgate {

const char* PlainPairLines::read(const char* at, const char* end) noexcept {
#ifdef __x86_64__
  if (registers_ == PlainLines::Registers::of_512_bits) return read_by_64(at, end);
  if (registers_ == PlainLines::Registers::of_256_bits) return read_by_32(at, end);
  return read_by_16(at, end);
#else
  // Every line goes through canonicalize_list_line(), which gives the same keys.
  static_cast<void>(end);
  count_ = 0;
  return at;
#endif
}

}  // namespace bloomgate
