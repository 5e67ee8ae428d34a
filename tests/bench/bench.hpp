// What the programs of the benchmark share. Each prints one JSON object, which tests/bench/run puts into its table.
#pragma once

#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"

namespace bloomgate::bench {

using Json = nlohmann::ordered_json;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The keys of a list, in its order. They point into a text that lives as long.
class Keys {
 public:
  explicit Keys(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    std::vector<std::size_t> ends;
    std::string line;
    while (std::getline(file, line)) {
      const Entry entry = canonicalize_line(line);
      if (!entry.is_key()) continue;
      text_ += entry.key();
      ends.push_back(text_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      keys_.emplace_back(text_.data() + begin, end - begin);
      begin = end;
    }
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  const std::vector<std::string_view>& keys() const noexcept { return keys_; }

 private:
  std::string text_;
  std::vector<std::string_view> keys_;
};

// An address that is in no list: nobody has a name in `.invalid` (RFC 2606).
inline std::string stranger_of(std::string_view key) {
  return std::string(key) + ".invalid";
}

// Runs a program: prints what `work` gives, or why it failed.
template <typename Work>
int run_bench(Work work) {
  try {
    std::cout << Json(work()).dump() << '\n';
    return std::cout.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

}  // namespace bloomgate::bench
