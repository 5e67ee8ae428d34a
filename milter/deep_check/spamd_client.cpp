#include "milter/deep_check/spamd_client.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <string>

#include "milter/deep_check/plain_connection.hpp"
#include "milter/deep_check/received_fields.hpp"
#include "milter/deep_check/spamd_reply.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

bool send_message(PlainConnection& connection, const MessageText& message) {
  std::array<char, kPieceBytes> piece;
  std::uint64_t sent = 0;
  while (const std::size_t count = message.read(sent, piece)) {
    if (!connection.send({piece.data(), count})) return false;
    sent += count;
  }
  return true;
}

}  // namespace

DeepResult ask_spamd(const DeepCheckServer& server, const Envelope& envelope, const MessageText& message,
                     Deadline deadline) {
  const std::string fields = received_fields(envelope, std::time(nullptr));
  PlainConnection connection(server.address, deadline);
  const std::string request =
      fmt::format("SYMBOLS SPAMC/1.5\r\nContent-length: {}\r\n\r\n{}", fields.size() + message.size(), fields);
  // If spamd does not accept the whole message, it has already answered, most likely with the reason.
  if (connection.send(request)) send_message(connection, message);
  return parse_spamd_reply(connection.receive_all(kMaxSpamdReplyBytes));
}

void ping_spamd(const DeepCheckServer& server, Deadline deadline) {
  PlainConnection connection(server.address, deadline);
  connection.send("PING SPAMC/1.5\r\n\r\n");
  require_pong(connection.receive_all(kMaxSpamdReplyBytes));
}

}  // namespace bloomgate
