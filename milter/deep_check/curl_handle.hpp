// One connection to a checker, made by libcurl, which resolves the host, connects to a port or a unix socket, and keeps
// the deadline. Used by the clients; for one thread.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "config/socket_address.hpp"
#include "milter/deep_check/checker_error.hpp"

namespace bloomgate {

// Must be called before the program has a second thread, since libcurl's own set-up is not thread-safe on every system.
// Further calls are harmless. Throws std::runtime_error.
void prepare_curl();

// The time left until the deadline, at least 1. Throws CheckerError if the deadline has passed.
long milliseconds_until(Deadline deadline);

class CurlHandle {
 public:
  // The handle ignores the environment (no proxy), uses no signals, and follows no redirections. It talks only to the
  // given server, by HTTP or HTTPS. Throws CheckerError.
  CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  // Throws CheckerError.
  template <typename Value>
  void set(CURLoption option, Value value) {
    require(curl_easy_setopt(curl_.get(), option, value));
  }

  // Where to connect: the path of a unix socket, or a family of addresses.
  void set_address(const SocketAddress& address);

  // Connects, sends and receives as set up. Throws CheckerError with libcurl's text.
  void perform(Deadline deadline);

  CURL* get() const noexcept { return curl_.get(); }

 private:
  void require(CURLcode code);

  struct Cleanup {
    void operator()(CURL* curl) const noexcept { curl_easy_cleanup(curl); }
  };
  char message_[CURL_ERROR_SIZE] = {};
  std::unique_ptr<CURL, Cleanup> curl_;
};

}  // namespace bloomgate
