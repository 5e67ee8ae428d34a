#include "filter/address/plain_line.hpp"

#include "filter/base/processor.hpp"

namespace bloomgate {

bool PlainLines::has(Registers registers) noexcept {
  switch (registers) {
    case Registers::of_256_bits:
      return processor().avx2;
    case Registers::of_512_bits:
      return processor().avx512;
    case Registers::of_128_bits:
      break;
  }
  return true;
}

PlainLines::Registers PlainLines::widest() noexcept {
  for (const Registers registers : {Registers::of_512_bits, Registers::of_256_bits}) {
    if (has(registers)) return registers;
  }
  return Registers::of_128_bits;
}

const char* PlainLines::read(const char* at, const char* end) noexcept {
#ifdef __x86_64__
  if (registers_ == Registers::of_512_bits) return read_by_64(at, end);
  if (registers_ == Registers::of_256_bits) return read_by_32(at, end);
  return read_by_16(at, end);
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  return read_by_16(at, end);
#else
  // Every line goes through canonicalize_line(), which gives the same keys.
  static_cast<void>(end);
  count_ = 0;
  return at;
#endif
}

const char* PlainPairLines::read(const char* at, const char* end) noexcept {
#ifdef __x86_64__
  if (registers_ == PlainLines::Registers::of_512_bits) return read_by_64(at, end);
  if (registers_ == PlainLines::Registers::of_256_bits) return read_by_32(at, end);
  return read_by_16(at, end);
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
  return read_by_16(at, end);
#else
  // Every line goes through canonicalize_list_line(), which gives the same keys.
  static_cast<void>(end);
  count_ = 0;
  return at;
#endif
}

}  // namespace bloomgate
