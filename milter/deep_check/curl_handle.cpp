#include "milter/deep_check/curl_handle.hpp"

#include <system_error>

namespace bloomgate {
namespace {

constexpr const char* kTooLate = "no answer in time";

class CurlLibrary {
 public:
  CurlLibrary() : code_(curl_global_init(CURL_GLOBAL_DEFAULT)) {}
  CurlLibrary(const CurlLibrary&) = delete;
  CurlLibrary& operator=(const CurlLibrary&) = delete;
  ~CurlLibrary() {
    if (code_ == CURLE_OK) curl_global_cleanup();
  }
  CURLcode code() const noexcept { return code_; }

 private:
  CURLcode code_;
};

}  // namespace

void prepare_curl() {
  static const CurlLibrary library;
  if (library.code() != CURLE_OK)
    throw std::runtime_error("libcurl cannot be used: " + std::string(curl_easy_strerror(library.code())));
}

long milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) throw CheckerError(kTooLate);
  return static_cast<long>(left.count());
}

CurlHandle::CurlHandle() : curl_((prepare_curl(), curl_easy_init())) {
  if (!curl_) throw CheckerError("libcurl gives no handle: out of memory");
  set(CURLOPT_ERRORBUFFER, message_);
  set(CURLOPT_NOSIGNAL, 1L);
  // Does not wait for a name look-up that hangs.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "*");
}

void CurlHandle::set_address(const SocketAddress& address) {
  switch (address.family) {
    case SocketAddress::Family::unix_path:
      set(CURLOPT_UNIX_SOCKET_PATH, address.path.c_str());
      return;
    case SocketAddress::Family::inet:
      set(CURLOPT_IPRESOLVE, long{CURL_IPRESOLVE_V4});
      return;
    case SocketAddress::Family::inet6:
      set(CURLOPT_IPRESOLVE, long{CURL_IPRESOLVE_V6});
      return;
  }
}

void CurlHandle::perform(Deadline deadline) {
  set(CURLOPT_TIMEOUT_MS, milliseconds_until(deadline));
  require(curl_easy_perform(curl_.get()));
}

void CurlHandle::require(CURLcode code) {
  if (code == CURLE_OK) return;
  if (code == CURLE_OPERATION_TIMEDOUT) throw CheckerError(kTooLate);
  // libcurl's own text names a host and a port even for a unix socket.
  long error = 0;
  if (code == CURLE_COULDNT_CONNECT && curl_easy_getinfo(curl_.get(), CURLINFO_OS_ERRNO, &error) == CURLE_OK && error) {
    throw CheckerError("it cannot be reached: " + std::generic_category().message(static_cast<int>(error)));
  }
  throw CheckerError(message_[0] != '\0' ? message_ : curl_easy_strerror(code));
}

}  // namespace bloomgate
