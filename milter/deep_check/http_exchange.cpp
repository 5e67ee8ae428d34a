#include "milter/deep_check/http_exchange.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "milter/deep_check/curl_handle.hpp"

namespace bloomgate {
namespace {

// The data of libcurl's callbacks. These are C functions, so an exception is stored, and thrown when libcurl has
// returned.
struct Exchange {
  const MessageText* message = nullptr;
  std::uint64_t sent = 0;
  std::size_t header_bytes = 0;
  HttpReply reply = {};
  std::exception_ptr exception = {};
};

std::size_t send_message(char* buffer, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  try {
    const std::size_t bytes = exchange.message->read(exchange.sent, {buffer, size * count});
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

// Adds the received bytes to a count of at most `max_bytes`; if that is exceeded, returns false, and the exchange has
// failed.
bool count_bytes(Exchange& exchange, const char* what, std::size_t before, std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes - before) return true;
  exchange.exception = std::make_exception_ptr(
      CheckerError(fmt::format("the {} of its answer is longer than {} bytes", what, max_bytes)));
  return false;
}

std::size_t receive_header(char*, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  if (!count_bytes(exchange, "header", exchange.header_bytes, size * count, kMaxHttpHeaderBytes)) return 0;
  exchange.header_bytes += size * count;
  return size * count;
}

std::size_t receive_body(char* bytes, std::size_t size, std::size_t count, void* data) {
  auto& exchange = *static_cast<Exchange*>(data);
  try {
    if (!count_bytes(exchange, "body", exchange.reply.body.size(), size * count, kMaxHttpReplyBytes)) return 0;
    exchange.reply.body.append(bytes, size * count);
    return size * count;
  } catch (...) {
    exchange.exception = std::current_exception();
    return 0;
  }
}

void set_server(CurlHandle& curl, const DeepCheckServer& server, const char* path) {
  std::string url = server.url;
  if (url.empty()) {
    curl.set_address(server.address);
    url = "http://localhost";  // the value of the field Host
  }
  while (url.ends_with('/')) url.pop_back();
  curl.set(CURLOPT_URL, (url + path).c_str());
}

HttpReply perform(CurlHandle& curl, Exchange& exchange, Deadline deadline) {
  curl.set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl.set(CURLOPT_USERAGENT, "bloomgate/" BLOOMGATE_VERSION);
  curl.set(CURLOPT_HEADERFUNCTION, &receive_header);
  curl.set(CURLOPT_HEADERDATA, &exchange);
  curl.set(CURLOPT_WRITEFUNCTION, &receive_body);
  curl.set(CURLOPT_WRITEDATA, &exchange);
  try {
    curl.perform(deadline);
  } catch (const CheckerError&) {
    if (exchange.exception) std::rethrow_exception(exchange.exception);
    throw;
  }
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &exchange.reply.status);
  return std::move(exchange.reply);
}

}  // namespace

void RequestFields::add(const char* name, const std::string& value) {
  if (!value.empty()) add_line(fmt::format("{}: {}", name, value));
}

void RequestFields::leave_out(const char* name) {
  add_line(fmt::format("{}:", name));
}

void RequestFields::add_line(const std::string& line) {
  curl_slist* const longer = curl_slist_append(list_.get(), line.c_str());
  if (!longer) throw std::bad_alloc();
  static_cast<void>(list_.release());
  list_.reset(longer);
}

HttpReply http_get(const DeepCheckServer& server, const char* path, Deadline deadline) {
  Exchange exchange;
  CurlHandle curl;
  set_server(curl, server, path);
  return perform(curl, exchange, deadline);
}

HttpReply post_message(const DeepCheckServer& server, const char* path, const RequestFields& fields,
                       const MessageText& message, Deadline deadline) {
  Exchange exchange{.message = &message};
  CurlHandle curl;
  set_server(curl, server, path);
  curl.set(CURLOPT_POST, 1L);
  curl.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.size()));
  curl.set(CURLOPT_READFUNCTION, &send_message);
  curl.set(CURLOPT_READDATA, &exchange);
  curl.set(CURLOPT_SEEKFUNCTION, &rewind_message);
  curl.set(CURLOPT_SEEKDATA, &exchange);
  curl.set(CURLOPT_HTTPHEADER, fields.get());
  return perform(curl, exchange, deadline);
}

}  // namespace bloomgate
