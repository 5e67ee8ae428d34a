#include "milter/deep_check/rspamd_client.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string>

#include "milter/deep_check/curl_handle.hpp"
#include "milter/deep_check/rspamd_reply.hpp"
#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

// Longer than any that mail servers let through.
constexpr std::size_t kMaxValueBytes = 1024;
// A message may have thousands of recipients; rspamd refuses a request with too large a header.
constexpr std::size_t kMaxRecipientBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxReplyHeaderBytes = std::size_t{64} << 10;

class RequestFields {
 public:
  void add(const char* name, const std::string& value) {
    if (!value.empty()) add_line(fmt::format("{}: {}", name, value));
  }

  void add_line(const std::string& line) {
    curl_slist* const longer = curl_slist_append(list_.get(), line.c_str());
    if (!longer) throw std::bad_alloc();
    static_cast<void>(list_.release());
    list_.reset(longer);
  }

  curl_slist* get() const noexcept { return list_.get(); }

 private:
  struct Free {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };
  std::unique_ptr<curl_slist, Free> list_;
};

std::string address_value(const std::string& address) {
  return "<" + utf8_text(address, kMaxValueBytes, "<>") + ">";
}

RequestFields request_fields(const CheckedEnvelope& envelope) {
  RequestFields fields;
  fields.add_line("Expect:");        // libcurl would wait for leave to send
  fields.add_line("Content-Type:");  // libcurl would say that it is a form
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
  // rspamd takes a client without the field for one without a name.
  fields.add("Hostname", ascii_text(known_host_name(envelope.client_name), kMaxValueBytes));
  fields.add("Helo", utf8_text(envelope.helo, kMaxValueBytes));
  fields.add("User", utf8_text(envelope.login, kMaxValueBytes));
  fields.add("MTA-Name", ascii_text(envelope.mta_name, kMaxValueBytes));
  return fields;
}

// One exchange as libcurl's callbacks see it. They are C: what they throw is kept, and thrown when libcurl has
// returned.
struct Exchange {
  const MessageText& message;
  std::uint64_t sent = 0;
  std::size_t header_bytes = 0;
  std::string reply = {};
  std::exception_ptr exception = {};
};

std::size_t send_message(char* buffer, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  try {
    const std::size_t bytes = exchange.message.read(exchange.sent, {buffer, size * count});
    exchange.sent += bytes;
    return bytes;
  } catch (...) {
    exchange.exception = std::current_exception();
    return CURL_READFUNC_ABORT;
  }
}

int rewind_message(void* data, curl_off_t offset, int origin) {
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  static_cast<Exchange*>(data)->sent = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

std::size_t receive_header(char*, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  exchange.header_bytes += size * count;
  return exchange.header_bytes > kMaxReplyHeaderBytes ? 0 : size * count;
}

std::size_t receive_reply(char* bytes, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  try {
    if (size * count > kMaxRspamdReplyBytes - exchange.reply.size()) {
      throw CheckerError(fmt::format("its answer is longer than {} bytes", kMaxRspamdReplyBytes));
    }
    exchange.reply.append(bytes, size * count);
    return size * count;
  } catch (...) {
    exchange.exception = std::current_exception();
    return 0;
  }
}

void set_exchange(CurlHandle& curl, Exchange& exchange) {
  curl.set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl.set(CURLOPT_USERAGENT, "bloomgate/" BLOOMGATE_VERSION);
  curl.set(CURLOPT_POST, 1L);
  curl.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(exchange.message.size()));
  curl.set(CURLOPT_READFUNCTION, &send_message);
  curl.set(CURLOPT_READDATA, &exchange);
  curl.set(CURLOPT_SEEKFUNCTION, &rewind_message);
  curl.set(CURLOPT_SEEKDATA, &exchange);
  curl.set(CURLOPT_HEADERFUNCTION, &receive_header);
  curl.set(CURLOPT_HEADERDATA, &exchange);
  curl.set(CURLOPT_WRITEFUNCTION, &receive_reply);
  curl.set(CURLOPT_WRITEDATA, &exchange);
}

void set_server(CurlHandle& curl, const DeepCheckServer& server) {
  std::string url = server.url;
  if (url.empty()) {
    curl.set_address(server.address);
    url = "http://localhost";  // what the Host field says
  }
  while (url.ends_with('/')) url.pop_back();
  curl.set(CURLOPT_URL, (url + "/checkv2").c_str());
}

}  // namespace

DeepResult ask_rspamd(const DeepCheckServer& server, const CheckedEnvelope& envelope, const MessageText& message,
                      Deadline deadline) {
  const RequestFields fields = request_fields(envelope);
  Exchange exchange{.message = message};
  CurlHandle curl;
  set_server(curl, server);
  set_exchange(curl, exchange);
  curl.set(CURLOPT_HTTPHEADER, fields.get());
  try {
    curl.perform(deadline);
  } catch (const CheckerError&) {
    if (exchange.exception) std::rethrow_exception(exchange.exception);
    throw;
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) throw CheckerError(fmt::format("it answered {}: {}", status, exchange.reply.substr(0, 200)));
  return parse_rspamd_reply(exchange.reply);
}

}  // namespace bloomgate
