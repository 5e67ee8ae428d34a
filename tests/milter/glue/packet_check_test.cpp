#include "milter/glue/packet_check.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::string_literals;

std::string packet(char command, const std::string& content) {
  const std::size_t length = content.size() + 1;
  std::string head;
  for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(length >> shift & 0xFF);
  return head + command + content;
}

// Whether all is taken, in pieces of that many bytes.
bool takes(std::string_view stream, std::size_t piece_bytes) {
  PacketCheck check;
  while (!stream.empty()) {
    const std::string_view piece = stream.substr(0, piece_bytes);
    stream.remove_prefix(piece.size());
    if (!check.take({reinterpret_cast<const unsigned char*>(piece.data()), piece.size()})) return false;
  }
  return true;
}

TEST_CASE("a packet of macros passes if its strings are pairs, in whatever pieces it arrives") {
  struct Case {
    const char* name;
    std::string stream;
    bool passes;
  };
  const std::string pair = packet('D', "Mi\0Q1\0"s);
  const std::string unpaired = packet('D', "Mi\0"s);
  const std::vector<Case> cases = {
      {"a name and its value", pair, true},
      {"two names and their values", packet('D', "Mi\0Q1\0j\0mx\0"s), true},
      {"an empty value", packet('D', "Mi\0\0"s), true},
      {"no string", packet('D', "M"), true},
      {"nothing at all", packet('D', ""), true},
      {"a string without its end is not counted", packet('D', "Mi\0Q1\0j"s), true},
      {"a name alone", unpaired, false},
      {"a value without its end", packet('D', "Mi\0Q1"s), false},
      {"three strings", packet('D', "Mi\0Q1\0j\0"s), false},
      {"for any step, also one that there is not", packet('D', "?i\0"s), false},
      {"the zero byte of a step is no string's end", packet('D', "\0i\0Q1\0"s), true},
      {"after another packet", pair + packet('Q', "") + unpaired, false},
      {"after packets without content", packet('N', "") + "\0\0\0\0N"s + "\xFF\xFF\xFF\xFFN" + unpaired, false},
      {"other packets have as many strings as they like", packet('M', "<a@b>\0"s) + packet('L', "a\0b\0c\0"s) + pair,
       true},
      {"a packet that looks like macros inside", packet('B', unpaired) + pair, true},
      {"one that has not ended yet", unpaired.substr(0, unpaired.size() - 1), true},
      {"a long one", packet('D', "M" + std::string(65534, '\0')) + pair, true},
      {"a long one that is odd", packet('D', "M" + std::string(65533, '\0')) + pair, false},
  };
  for (const Case& each : cases) {
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{100'000}}) {
      INFO(each.name << ", in pieces of " << piece_bytes);
      CHECK(takes(each.stream, piece_bytes) == each.passes);
    }
  }
}

}  // namespace
}  // namespace bloomgate
