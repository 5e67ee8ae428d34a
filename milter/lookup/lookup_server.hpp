// Answers other programs of the mail system who ask for senders, over a socket of its own and in a thread of its own:
// no session of the mail server waits for it. It speaks Postfix's socketmap protocol (socketmap.hpp), and has one map,
// `senders`: its key is an address, or `SENDER > RECIPIENT`, its value `listed` or `revoked`. Who begins with a letter
// is answered by HTTP (http_lookup.hpp), and may go on with further requests.
//
// A client may be hostile or slow, and the others must not wait for it: a request has a size and a deadline, however
// slowly its bytes come, and so has the taking of the answers. A client that breaks the protocol is told so, and hung
// up on. Where there are too many clients, the one that has been silent longest has to go: Postfix opens its connection
// again, and a flood of idle clients shuts nobody out. One whose message is being decided stays.
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
  std::size_t requests = 1000;              // of a connection by HTTP
  std::chrono::milliseconds request{5000};  // from its first byte to its last
  std::chrono::milliseconds answer{5000};   // until the client has taken what it asked for
  std::chrono::milliseconds idle{60000};    // between two requests of a connection by HTTP
  std::chrono::milliseconds waiting{1000};  // for stores, for all requests of a client that came at once
};

class LookupServer {
 public:
  struct Handlers {
    // Called by the server's thread, for one question at a time, with the time until when it may wait for a disk. If
    // it throws, the answer is that of a sender who is not listed.
    std::function<SenderStanding(const SenderQuestion&, std::chrono::steady_clock::time_point)> answer;
    // Called by the server's thread with what went wrong, on one line; must not throw.
    std::function<void(const std::string&)> on_fault = nullptr;
    // Called by the server's thread for a POST of a whole message, /message; null: no message is decided here.
    std::function<HttpAdmission(const HttpRequest&)> admit_message = nullptr;
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

  // All that follows is the server's thread's.
  const Handlers handlers_;
  const LookupLimits limits_;
  const HttpLimits http_limits_;
  const HttpConnection::Handlers http_handlers_;
  const bool is_local_;            // only programs of this machine get here
  std::list<Client*> by_silence_;  // those that are served, the one that has been silent longest first
  SocketLoop socket_;
};

}  // namespace bloomgate
