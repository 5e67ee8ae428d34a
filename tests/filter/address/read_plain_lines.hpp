// Reads text by one of the builder's fast paths, in registers of each width.
#pragma once

#include <string>
#include <vector>

#include "filter/address/plain_line.hpp"
#include "filter/domains/sender_domain.hpp"
#include "tests/support/catch.hpp"

// Where there are instructions for many bytes at once. Elsewhere the fast paths read nothing.
#if defined(__SSE2__) || (defined(__aarch64__) && !defined(__AARCH64EB__))
#define BLOOMGATE_READS_PLAIN_LINES
#endif

namespace bloomgate {

struct PlainRead {
  std::size_t bytes = 0;  // of the lines that were read
  std::vector<std::string> keys = {};
};

// Each key has the right domain, too.
template <typename Lines>
void append_keys(const Lines& lines, std::vector<std::string>& keys) {
  for (const PlainKey& key : lines.keys()) {
    CHECK(key.domain() == sender_domain_of(key.text()));
    keys.emplace_back(key.text());
  }
}

// `behind` stands in memory behind the end of the text, as in a block that is read into the memory of a longer one.
template <typename Lines>
PlainRead read_plain_lines(const std::string& text, const std::string& behind) {
  std::string readable = text + behind;
  readable.resize(text.size() + PlainLines::kReadable, 'x');
  const auto read_with = [&readable, &text](PlainLines::Registers registers) -> PlainRead {
    Lines lines(registers);
    const char* const stop = lines.read(readable.data(), readable.data() + text.size());
    PlainRead read = {.bytes = static_cast<std::size_t>(stop - readable.data())};
    append_keys(lines, read.keys);
    return read;
  };
  const PlainRead narrow = read_with(PlainLines::Registers::of_128_bits);
  for (const auto registers : {PlainLines::Registers::of_256_bits, PlainLines::Registers::of_512_bits}) {
    if (!PlainLines::has(registers)) continue;
    const PlainRead wide = read_with(registers);
    CHECK(wide.bytes == narrow.bytes);
    CHECK(wide.keys == narrow.keys);
  }
  return narrow;
}

// All keys of a text of which every line is plain, read by one object step after step.
template <typename Lines>
std::vector<std::string> read_all_plain_lines(std::string text) {
  text.append(PlainLines::kReadable, '\0');
  std::vector<std::string> keys = {};
  Lines lines;
  const char* at = text.data();
  const char* const end = text.data() + text.size() - PlainLines::kReadable;
  while (at < end) {
    const char* const stop = lines.read(at, end);
    REQUIRE(stop > at);
    append_keys(lines, keys);
    at = stop;
  }
  return keys;
}

}  // namespace bloomgate
