// What an HTTP server of ours is asked and answers, and the limits that its clients have (http_connection.hpp). Plain
// values, without Beast and Asio, which take a compiler longer than all that makes an answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomgate {

// Names and values of the fields of a request, in their order.
using HttpFields = std::vector<std::pair<std::string_view, std::string_view>>;

struct HttpRequest {
  std::string_view target;     // as it came: "/metrics"; any bytes but control bytes
  std::string_view host = {};  // of the field Host, with its port if it has one; empty: there was none
  HttpFields fields = {};      // of a POST, until it is admitted
  std::optional<std::string_view> posted = std::nullopt;  // the body of a POST, which may be any bytes
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

// Cuts the text up to `mark` off the front of `rest`, and the mark with it; all of it where there is none. So a target
// is cut into its path and its query, and a query into its parts.
inline std::string_view next_part(std::string_view& rest, char mark) noexcept {
  const std::string_view part = rest.substr(0, rest.find(mark));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

// One line of text that says why there is nothing else. Throws std::bad_alloc, as the next one does.
HttpAnswer http_refusal(unsigned status, std::string why);

// The refusal of a request that a name from elsewhere has brought to a socket that only this machine reaches; see
// names_this_machine(). Nothing: the request may be answered.
std::optional<HttpAnswer> foreign_host_refusal(const HttpRequest& request, bool is_local);

// Takes the answer that another thread has made; from any thread, once, while the server is there.
using HttpReply = std::function<void(HttpAnswer)>;

// What becomes of a POST whose header has come, before its body does.
struct HttpAdmission {
  std::optional<HttpAnswer> refusal = {};   // nothing: the body may come
  std::size_t body_bytes = 0;               // at most
  std::chrono::milliseconds request{5000};  // until its last byte has come
  std::shared_ptr<void> place = {};         // let go once the answer is taken, or the client is gone
  // Has the answer made in another thread, and returns at once. If it throws, the reply is not called. Null: it is
  // answered as other requests are.
  std::function<void(std::string body, HttpReply reply)> answer_later = {};
};

struct HttpLimits {
  std::size_t connections = 16;
  std::size_t header_bytes = 8192;
  std::size_t body_bytes = 0;               // 0: a POST is refused
  std::size_t requests = 1;                 // of a connection, which ends behind the answer to the last one
  std::chrono::milliseconds request{5000};  // from the first byte to the last, and then as long for the answer
  std::chrono::milliseconds answer{5000};
  std::chrono::milliseconds idle{60000};  // from an answer to the first byte of the next request
};

}  // namespace bloomgate
