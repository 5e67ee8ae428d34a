// Which sets of instructions this processor has beyond the minimum of its architecture. Code for such a set asks here
// whether it may run, and has an alternative for other processors that gives the same results.
#pragma once

namespace bloomgate {

struct Processor {
  bool popcnt = false;
  bool bmi2 = false;
  bool avx2 = false;           // and BMI and BMI2
  bool avx512 = false;         // with BW, and BMI and BMI2
  bool avx512_popcnt = false;  // with VPOPCNTDQ
  bool avx512_vbmi2 = false;   // with BW, VL, VBMI and VBMI2, and POPCNT
};

inline const Processor& processor() noexcept {
#ifdef __x86_64__
  static const Processor kThis = [] {
    Processor found;
    found.popcnt = __builtin_cpu_supports("popcnt") != 0;
    found.bmi2 = __builtin_cpu_supports("bmi2") != 0;
    const bool has_bit_instructions = found.bmi2 && __builtin_cpu_supports("bmi") != 0;
    const bool has_bytes = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
    found.avx2 = has_bit_instructions && __builtin_cpu_supports("avx2") != 0;
    found.avx512 = has_bit_instructions && has_bytes;
    found.avx512_popcnt = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vpopcntdq") != 0;
    found.avx512_vbmi2 = found.popcnt && has_bytes && __builtin_cpu_supports("avx512vl") != 0 &&
                         __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
    return found;
  }();
#else
  static constexpr Processor kThis;
#endif
  return kThis;
}

}  // namespace bloomgate
