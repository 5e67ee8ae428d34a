// What the tests of the C interface call again and again, with what each call must give.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filter/library/bloomgate.h"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

struct Close {
  void operator()(bloomgate_filter* filter) const { bloomgate_close(filter); }
};
using Filter = std::unique_ptr<bloomgate_filter, Close>;

inline int open_error(const std::string& path, unsigned flags = BLOOMGATE_VERIFY) {
  bloomgate_filter* filter = nullptr;
  const int error = bloomgate_open(path.data(), path.size(), flags, &filter);
  CHECK((filter != nullptr) == (error == BLOOMGATE_OK));
  bloomgate_close(filter);
  return error;
}

inline Filter opened(const std::string& path, unsigned flags = BLOOMGATE_VERIFY) {
  bloomgate_filter* filter = nullptr;
  REQUIRE(bloomgate_open(path.data(), path.size(), flags, &filter) == BLOOMGATE_OK);
  return Filter(filter);
}

inline std::uint8_t look_up(const Filter& filter, const std::string& address) {
  std::uint8_t answer = 255;
  CHECK(bloomgate_look_up(filter.get(), address.data(), address.size(), &answer) == BLOOMGATE_OK);
  return answer;
}

inline std::uint8_t look_up_entry(const Filter& filter, const std::string& entry) {
  std::uint8_t answer = 255;
  CHECK(bloomgate_look_up_entry(filter.get(), entry.data(), entry.size(), &answer) == BLOOMGATE_OK);
  return answer;
}

inline std::uint8_t look_up_pair(const Filter& filter, const std::string& sender, const std::string& recipient) {
  std::uint8_t answer = 255;
  CHECK(bloomgate_look_up_pair(filter.get(), sender.data(), sender.size(), recipient.data(), recipient.size(),
                               &answer) == BLOOMGATE_OK);
  return answer;
}

inline std::uint64_t number(const Filter& filter, int which) {
  std::uint64_t number = 0;
  REQUIRE(bloomgate_number(filter.get(), which, &number) == BLOOMGATE_OK);
  return number;
}

// A column in memory: its data, and where each text begins.
template <typename Offset>
struct Texts {
  explicit Texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      data += text;
      offsets.push_back(static_cast<Offset>(data.size()));
    }
  }
  std::string data;
  std::vector<Offset> offsets = {0};
};

struct Library : InFolder {
  // A filter of these list lines, opened.
  Filter built(const std::vector<std::string>& lines, const BuildOptions& options = {.seed = 42}) const {
    build_filter(folder.file("f"), lines, options);
    return opened(folder.file("f"));
  }
};

}  // namespace bloomgate::test
