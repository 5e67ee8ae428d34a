// Answers look-ups of senders for other programs of the mail system, over its own socket and in its own thread: no
// session of the mail server waits for it. It speaks Postfix's socketmap protocol (socketmap.hpp), and has one map,
// `senders`: the key is an address, or `SENDER > RECIPIENT`, the value `listed` or `revoked`. If the first byte from a
// client is a letter, the server speaks HTTP with it (http_lookup.hpp), and accepts further requests on the connection.
//
// A client may be hostile or slow, and the other clients must not wait for it. A request has a maximum size and a
// deadline, however slowly its bytes arrive, and so has the fetching of answers. A client that breaks the protocol gets
// an error, and is disconnected. If there are too many clients, the one that has been silent longest is disconnected:
// Postfix reconnects, and a flood of idle clients locks no client out. A client whose message is being decided stays.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>

#include "milter/lookup/sender_question.hpp"
#include "milter/serving/http_connection.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {

struct LookupLimits {
  std::size_t connections = 256;
  std::size_t requests = 1000;              // for each HTTP connection
  std::chrono::milliseconds request{5000};  // from its first byte to its last
  std::chrono::milliseconds answer{5000};   // until the client has fetched the answers
  std::chrono::milliseconds idle{60000};    // between two requests of an HTTP connection
  std::chrono::milliseconds waiting{1000};  // for stores, for all requests of a client that arrived at once
};

class LookupServer {
 public:
  struct Handlers {
    // Called by the server's thread, for one question at a time, with the time until which it may wait for a disk. If
    // it throws, the answer is `neither`.
    std::function<SenderStanding(const SenderQuestion&, std::chrono::steady_clock::time_point)> answer;
    // Called by the server's thread with a description of a fault, in one line; must not throw.
    std::function<void(const std::string&)> on_fault = nullptr;
    // Called by the server's thread for a POST of a whole message, /message; null: no message is decided here.
    std::function<HttpAdmission(const HttpRequest&)> admit_message = nullptr;
    // Called by the server's thread for each request for /message that is refused, with the answer. Status 0: there was
    // no answer, since the message did not arrive as a whole. Not called for what `answer_later` has answered. May be
    // null, as the next function; neither may throw.
    std::function<void(const HttpAnswer&)> on_refused_message = nullptr;
    // Called by the server's thread once a second.
    std::function<void()> on_second = nullptr;
  };

  // Serves the socket that listens on `descriptor`, which is duplicated. Throws BloomgateError{no_system_resource}.
  LookupServer(int descriptor, Handlers handlers, LookupLimits limits = {});
  // Ends all connections at once, and waits only for an answer that is being made.
  ~LookupServer() = default;
  LookupServer(const LookupServer&) = delete;
  LookupServer& operator=(const LookupServer&) = delete;

 private:
  class Client;

  void take(ClientStream stream);
  HttpAdmission admit(const HttpRequest& request) const;
  HttpAnswer answer(const HttpRequest& request) const;
  SenderStanding standing_of(const SenderQuestion& question, std::chrono::steady_clock::time_point wait_until) const;
  std::chrono::steady_clock::time_point wait_until() const {
    return std::chrono::steady_clock::now() + limits_.waiting;
  }

  // Only the server's thread uses the members below.
  const Handlers handlers_;
  const LookupLimits limits_;
  const HttpLimits http_limits_;
  const HttpConnection::Handlers http_handlers_;
  const bool is_local_;            // only programs on this machine can connect
  std::list<Client*> by_silence_;  // the connected clients, the one that has been silent longest first
  SocketLoop socket_;
};

}  // namespace bloomgate
