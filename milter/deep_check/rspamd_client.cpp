#include "milter/deep_check/rspamd_client.hpp"

#include <fmt/format.h>

#include <string>

#include "milter/deep_check/http_exchange.hpp"
#include "milter/deep_check/rspamd_reply.hpp"
#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

// Longer than any value that a mail server lets through.
constexpr std::size_t kMaxValueBytes = 1024;
// A message may have thousands of recipients; rspamd refuses a request with too large a header.
constexpr std::size_t kMaxRecipientBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxQuotedReplyBytes = 200;

std::string address_value(const std::string& address) {
  return "<" + utf8_text(address, kMaxValueBytes, "<>") + ">";
}

RequestFields request_fields(const Envelope& envelope) {
  RequestFields fields;
  fields.leave_out("Expect");        // else libcurl waits for permission to send
  fields.leave_out("Content-Type");  // else libcurl declares a form
  fields.add("Queue-Id", ascii_text(envelope.queue_id, kMaxValueBytes));
  fields.add("From", address_value(envelope.sender));
  std::size_t recipient_bytes = 0;
  for (const std::string& recipient : envelope.recipients) {
    const std::string value = address_value(recipient);
    recipient_bytes += value.size();
    if (recipient_bytes > kMaxRecipientBytes) break;
    fields.add("Rcpt", value);
  }
  fields.add("IP", ascii_text(envelope.client_address, kMaxValueBytes));
  // Without this field rspamd treats the client as one without a name.
  fields.add("Hostname", ascii_text(known_host_name(envelope.client_name), kMaxValueBytes));
  fields.add("Helo", utf8_text(envelope.helo, kMaxValueBytes));
  fields.add("User", utf8_text(envelope.login, kMaxValueBytes));
  fields.add("MTA-Name", ascii_text(envelope.mta_name, kMaxValueBytes));
  return fields;
}

[[noreturn]] void refuse_status(const HttpReply& reply) {
  throw CheckerError(fmt::format("it answers {}: {}", reply.status, reply.body.substr(0, kMaxQuotedReplyBytes)));
}

}  // namespace

DeepResult ask_rspamd(const DeepCheckServer& server, const Envelope& envelope, const MessageText& message,
                      Deadline deadline) {
  const HttpReply reply = post_message(server, "/checkv2", request_fields(envelope), message, deadline);
  if (reply.status != 200) refuse_status(reply);
  return parse_rspamd_reply(reply.body);
}

void ping_rspamd(const DeepCheckServer& server, Deadline deadline) {
  const HttpReply reply = http_get(server, "/ping", deadline);
  if (reply.status != 200 || !reply.body.starts_with("pong")) refuse_status(reply);
}

}  // namespace bloomgate
