// Fetches files from a web server, by libcurl: one after the other over one connection. The server's answers are
// bounded in bytes and time. The caller must not trust the bytes until a digest fits.
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
  std::string proxy = {};             // empty: that of libcurl's environment variables
  std::chrono::seconds timeout = {};  // for one file; 0: no limit as long as bytes arrive
};

// Throws BloomgateError{bad_argument}, with the remedy, unless the URL is https, or http to this machine itself. Also
// for a URL with a password, which messages would show, and for one to which no name of a file can be appended.
void require_web_url(const std::string& url);

class WebFiles {
 public:
  // `stop` ends a transfer, and must outlive the object. Throws BloomgateError{library_failed}.
  WebFiles(const WebOptions& options, const std::atomic<bool>& stop);
  ~WebFiles();
  WebFiles(const WebFiles&) = delete;
  WebFiles& operator=(const WebFiles&) = delete;

  struct Request {
    std::string url;
    std::string etag = {};         // of the existing copy; empty: there is none
    std::uint64_t begin = 0;       // from this byte on, if the server supports that
    std::uint64_t most_bytes = 0;  // of the file
  };
  struct Answer {
    bool is_unchanged = false;  // the copy with that ETag is current; no bytes were sent
    std::string etag = {};      // empty: the server sent none
  };
  // Called before the first bytes, with their offset in the file.
  using Begin = std::function<void(std::uint64_t begin)>;
  using Use = std::function<void(std::span<const std::byte> bytes)>;

  // Throws BloomgateError{no_answer} with the message of the server or of libcurl if a later try may succeed;
  // {bad_input} if the server sends more than `most_bytes`; {interrupted}; and what the functions throw.
  Answer fetch(const Request& request, const Begin& begin, const Use& use);

  // The number of bytes of all bodies.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Curl;
  std::unique_ptr<Curl> curl_;
  const std::atomic<bool>& stop_;
  std::uint64_t bytes_ = 0;
};

}  // namespace bloomgate
