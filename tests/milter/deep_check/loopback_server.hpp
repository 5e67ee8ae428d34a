// A server on loopback that answers as a test wants it to, well or badly, each connection in a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/deep_check_options.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate::test {

class LoopbackServer {
 public:
  // One connection of a client, as the answering function sees it.
  class Client {
   public:
    Client(LoopbackServer& server, int socket) : server_(server), socket_(socket) {}

    // The next request: a header, and a body of as many bytes as its Content-length says.
    std::string request();
    // The next line with its end, or what came of it before the client has hung up.
    std::string line();
    // Waits for the first bytes, and leaves them there.
    void await_bytes();
    // All until the client says that it sends no more.
    std::string rest();
    // False where the client is gone.
    bool send(std::string_view bytes);
    // Does nothing until the server ends.
    void hang();
    bool stopped() const { return server_.stopped_; }

   private:
    LoopbackServer& server_;
    int socket_;
  };
  using Answer = std::function<void(Client&)>;

  explicit LoopbackServer(Answer answer);
  // On a unix socket.
  LoopbackServer(Answer answer, const std::string& path);
  // On the loopback address of IPv6, and whether there is one.
  struct OverIpv6 {};
  LoopbackServer(Answer answer, OverIpv6);
  static bool has_ipv6();
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  const SocketAddress& address() const noexcept { return address_; }
  DeepCheckServer rspamd() const;
  DeepCheckServer spamd() const;

  // So far.
  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int socket);

  Answer answer_;
  SocketAddress address_;
  FileDescriptor listener_;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> open_;
  std::vector<std::thread> clients_;
  std::thread acceptor_;
};

// An answer of rspamd, whole: header and body.
std::string http_reply(std::string_view body, int status = 200);
// One that says what it is about.
std::string rspamd_says(std::string_view action, double score);
std::string spamd_says(bool spam, double score);

// Reads the request, gives that answer and ends.
LoopbackServer::Answer answers(std::string reply);
LoopbackServer::Answer hangs();
// Says that as soon as the client has said something.
LoopbackServer::Answer replies(std::string text);
// As a milter to a mail server's first packet.
LoopbackServer::Answer plays_milter();

}  // namespace bloomgate::test
