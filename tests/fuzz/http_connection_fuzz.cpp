// A connection by HTTP that a client sends any bytes on: whatever they are, it ends once they are over, and what the
// client gets is whole answers, no more than it may make requests, and none behind one that says that it is the last.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milter/serving/http_connection.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using test::require;

constexpr HttpLimits kLimits = {.header_bytes = 512, .body_bytes = 256, .requests = 8};

// So much fits into the buffer of a socket, so nobody has to read meanwhile.
constexpr std::size_t kMaxBytes = 16384;

std::string answers_to(std::string_view bytes, std::size_t first, std::vector<std::string>& asked) {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  boost::asio::io_context context;
  const HttpConnection::Handlers handlers = {.answer =
                                                 [&asked](const HttpRequest& request) {
                                                   asked.emplace_back(request.target);
                                                   return HttpAnswer{.body = "asked\n"};
                                                 },
                                             .on_fault = [](const std::string&) {}};
  const std::string_view rest = bytes.substr(first);
  require(send(ends[1], rest.data(), rest.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(rest.size()));
  shutdown(ends[1], SHUT_WR);
  std::make_shared<HttpConnection>(ClientStream(context, ends[0]), kLimits, handlers, nullptr, nullptr,
                                   bytes.substr(0, first))
      ->begin();
  context.run();

  std::string answers;
  char buffer[65536];
  while (const ssize_t count = recv(ends[1], buffer, sizeof buffer, 0)) {
    if (count < 0) break;  // it was reset, since there were bytes that nobody has read
    answers.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[1]);
  return answers;
}

std::string_view up_to(std::string_view& rest, std::string_view mark) {
  const std::size_t end = rest.find(mark);
  require(end != std::string_view::npos);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end + mark.size());
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > kMaxBytes) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> asked;
  // As the server for look-ups does it: what it has read to know the protocol is there already.
  const std::string answers = answers_to(bytes, std::min<std::size_t>(data[0], bytes.size()), asked);
  require(asked.size() <= kLimits.requests);
  std::string_view rest = answers;
  std::size_t count = 0;
  bool is_over = false;
  while (!rest.empty()) {
    require(!is_over && ++count <= kLimits.requests);
    const std::string_view head = up_to(rest, "\r\n\r\n");
    require(head.starts_with("HTTP/1.1 "));
    is_over = head.find("\r\nConnection: close") != std::string_view::npos;
    // Of an answer to HEAD there is no body.
    if (rest.starts_with("HTTP/1.1 ") || rest.empty()) continue;
    up_to(rest, "\n");
  }
  require(is_over || count < kLimits.requests);
  return 0;
}
