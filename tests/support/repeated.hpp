#pragma once

#include <string>
#include <string_view>

namespace bloomgate::test {

inline std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace bloomgate::test
