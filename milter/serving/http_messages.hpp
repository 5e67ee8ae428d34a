// Requests to our own HTTP servers, their answers, and the limits for clients (http_connection.hpp). Plain values,
// without Beast and Asio, which take longer to compile than all the code that makes answers.
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
  std::string_view target;     // as received: "/metrics"; any bytes but control bytes
  std::string_view host = {};  // the field Host, with its port if it has one; empty: there was none
  HttpFields fields = {};      // of a POST, until it is admitted
  std::optional<std::string_view> posted = std::nullopt;  // the body of a POST, which may be any bytes
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

// Removes the text up to `mark` from the front of `rest`, and the mark with it; all of it if there is no mark. Returns
// the text. Splits a target into its path and its query, and a query into its parts.
inline std::string_view next_part(std::string_view& rest, char mark) noexcept {
  const std::string_view part = rest.substr(0, rest.find(mark));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

// One line of text that says why there is no other answer. Throws std::bad_alloc, and so does the next function.
HttpAnswer http_refusal(unsigned status, std::string why);

// The refusal of a request that reached a local-only socket through a foreign host name; see names_this_machine().
// Nothing: the request may be answered.
std::optional<HttpAnswer> foreign_host_refusal(const HttpRequest& request, bool is_local);

// Receives the answer that another thread has made. May be called from any thread, once, while the server exists.
using HttpReply = std::function<void(HttpAnswer)>;

// What happens to a POST whose header has arrived, before its body does.
struct HttpAdmission {
  std::optional<HttpAnswer> refusal = {};   // nothing: the body may be sent
  std::size_t body_bytes = 0;               // the maximum
  std::chrono::milliseconds request{5000};  // until the last byte of the request must have arrived
  std::shared_ptr<void> place = {};         // released when the answer was fetched, or the client is gone
  // Starts making the answer in another thread, and returns at once. If it throws, the reply is not called. Null: the
  // request is answered like other requests.
  std::function<void(std::string body, HttpReply reply)> answer_later = {};
};

struct HttpLimits {
  std::size_t connections = 16;
  std::size_t header_bytes = 8192;
  std::size_t body_bytes = 0;               // 0: POST is refused
  std::size_t requests = 1;                 // for each connection, which ends after the answer to the last one
  std::chrono::milliseconds request{5000};  // from the first byte to the last
  std::chrono::milliseconds answer{5000};
  std::chrono::milliseconds idle{60000};  // from an answer to the first byte of the next request
};

}  // namespace bloomgate
