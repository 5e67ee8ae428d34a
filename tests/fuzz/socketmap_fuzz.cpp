// What a client sends to the socket for look-ups: each netstring is within the bytes, whatever they are, and one that
// is whole is read again the same.
#include <cstdint>
#include <string_view>

#include "milter/lookup/sender_question.hpp"
#include "milter/lookup/socketmap.hpp"
#include "tests/fuzz/require.hpp"

using namespace bloomgate;
using bloomgate::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Netstring next = read_netstring(rest);
  for (; next.state == Netstring::State::complete; next = read_netstring(rest)) {
    require(next.bytes != 0 && next.bytes <= rest.size());
    require(next.payload.size() <= kMaxSocketmapRequestBytes);
    require(netstring_of(next.payload) == rest.substr(0, next.bytes));
    const SocketmapRequest request = socketmap_request(next.payload);
    require(request.map.size() + request.key.size() <= next.payload.size());
    const SenderQuestion question = sender_question(request.key);
    require(question.sender.size() + question.recipient.size() <= request.key.size());
    rest.remove_prefix(next.bytes);
  }
  // What is waited for ends: the longest request has four digits, a colon and a comma about it.
  require(next.state == Netstring::State::malformed || rest.size() < kMaxSocketmapRequestBytes + 6);
  return 0;
}
