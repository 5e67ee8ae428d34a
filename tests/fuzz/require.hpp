// What must hold of every input of a fuzz target: the run ends where it does not.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace bloomgate::test {

inline void require(bool holds, std::string_view what = "what the target says", std::string_view of = {}) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\nof: " << of << '\n';
  std::abort();
}

}  // namespace bloomgate::test
