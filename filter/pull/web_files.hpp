// Fetches files from a web server, by libcurl: one after the other over one connection. Whatever the server sends is
// bounded in bytes and time, and is the business of the caller; it is no more than bytes until a digest fits.
//
// For one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace bloomgate {

struct WebOptions {
  std::string proxy = {};             // empty: as libcurl's environment variables say
  std::chrono::seconds timeout = {};  // for one file; 0: as long as it moves
};

// Throws BloomgateError{bad_argument} with the remedy for anything but https, and http to this machine itself, for a
// URL with a password in it, which messages would show, and for one to which no name of a file can be appended.
void require_web_url(const std::string& url);

class WebFiles {
 public:
  // `stop` ends a transfer, and has to outlive the object. Throws BloomgateError{library_failed}.
  WebFiles(const WebOptions& options, const std::atomic<bool>& stop);
  ~WebFiles();
  WebFiles(const WebFiles&) = delete;
  WebFiles& operator=(const WebFiles&) = delete;

  struct Request {
    std::string url;
    std::string etag = {};         // of the copy that is there; empty: there is none
    std::uint64_t begin = 0;       // from this byte on, if the server can do that
    std::uint64_t most_bytes = 0;  // of the file
  };
  struct Answer {
    bool is_unchanged = false;  // the copy with that ETag is still the one; no bytes came
    std::string etag = {};      // empty: the server told none
  };
  // Called before the first bytes: from which byte of the file on they are.
  using Begin = std::function<void(std::uint64_t begin)>;
  using Use = std::function<void(std::span<const std::byte> bytes)>;

  // Throws BloomgateError{no_answer} with the server's or libcurl's words: what it is that may be tried again later;
  // {bad_input} if it sends more than `most_bytes`, {interrupted}, and what the functions throw.
  Answer fetch(const Request& request, const Begin& begin, const Use& use);

  // Of all bodies.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Curl;
  std::unique_ptr<Curl> curl_;
  const std::atomic<bool>& stop_;
  std::uint64_t bytes_ = 0;
};

}  // namespace bloomgate
