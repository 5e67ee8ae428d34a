#include "filter/pull/web_files.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <charconv>
#include <exception>
#include <optional>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr long kConnectSeconds = 10;
// A transfer with fewer bytes than that for so long has stalled.
constexpr long kLeastBytesOfSecond = 1000;
constexpr long kStalledSeconds = 30;
constexpr long kMostRedirections = 3;
constexpr std::size_t kMostEtagBytes = 256;

// Uses libcurl's own parser of URLs, since libcurl will connect.
class Url {
 public:
  explicit Url(const std::string& text) : url_(curl_url()) {
    is_valid_ = url_ && curl_url_set(url_.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  bool is_valid() const noexcept { return is_valid_; }
  std::string part(CURLUPart part) const {
    char* text = nullptr;
    if (curl_url_get(url_.get(), part, &text, 0) != CURLUE_OK) return {};
    const std::unique_ptr<char, void (*)(void*)> owned(text, curl_free);
    return text;
  }

 private:
  struct Cleanup {
    void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
  };
  std::unique_ptr<CURLU, Cleanup> url_;
  bool is_valid_ = false;
};

// Names other than localhost may be any machine, also those that begin like an address.
bool is_this_machine(const std::string& host) {
  constexpr std::uint32_t kLoopback = 127;
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address = {};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == kLoopback;
}

// 100 for "bytes 100-" of "bytes 100-199/200". Nothing for anything else.
std::optional<std::uint64_t> begin_of_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  std::uint64_t begin = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), begin);
  if (error != std::errc() || at == text.data() + text.size() || *at != '-') return std::nullopt;
  return begin;
}

}  // namespace

void require_web_url(const std::string& url) {
  const auto refuse = [&](const std::string& why) { throw BloomgateError(ErrorCode::bad_argument, why); };
  const Url parts(url);
  if (!parts.is_valid())
    refuse("expected a URL such as https://lists.example.org/customers/, got '" + printable(url) + "'");
  if (!parts.part(CURLUPART_USER).empty() || !parts.part(CURLUPART_PASSWORD).empty()) {
    refuse(
        "the URL has a user's name or password in it, which logs would show; let the server know its fronts by their "
        "addresses: what is published is signed, and holds no address");
  }
  if (url.find_first_of("?#") != std::string::npos) {
    refuse("'" + printable(url) +
           "' has a query or a fragment, after which no name of a file can stand; name a folder");
  }
  const std::string scheme = parts.part(CURLUPART_SCHEME);
  if (scheme == "https" || (scheme == "http" && is_this_machine(parts.part(CURLUPART_HOST)))) return;
  refuse("'" + printable(url) + "' is neither https, nor http on this machine itself (localhost)");
}

// The state of one transfer, which libcurl's callbacks share. These are C, so an exception is kept and thrown later.
struct WebFiles::Curl {
  struct Cleanup {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
  };
  std::unique_ptr<CURL, Cleanup> handle{curl_easy_init()};
  char message[CURL_ERROR_SIZE] = {};
  const std::atomic<bool>* stop = nullptr;
  const Request* request = nullptr;
  const Begin* begin = nullptr;
  const Use* use = nullptr;
  bool has_begun = false;
  std::uint64_t at = 0;        // in the file
  std::uint64_t received = 0;  // bytes
  std::exception_ptr exception = {};

  template <typename Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(handle.get(), option, value) == CURLE_OK) return;
    throw BloomgateError(ErrorCode::library_failed, "libcurl refuses an option");
  }
  long status() const noexcept {
    long code = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  std::string_view header(const char* name) const noexcept {
    curl_header* found = nullptr;
    return curl_easy_header(handle.get(), name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value : "";
  }

  // Finds where the first bytes belong. A server that cannot send a part sends the whole file.
  void start() {
    constexpr long kWhole = 200;
    constexpr long kPart = 206;
    at = 0;
    if (status() != kWhole && status() != kPart) {
      throw BloomgateError(ErrorCode::no_answer, request->url + " cannot be fetched: the server answers " +
                                                     std::to_string(status()) +
                                                     ", and sends no file; see whether the URL is right");
    }
    if (status() == kPart) {
      const auto sent = begin_of_range(header("Content-Range"));
      if (!sent || *sent != request->begin) {
        throw BloomgateError(ErrorCode::no_answer,
                             request->url + ": the server sends another part than it was asked for");
      }
      at = *sent;
    }
    (*begin)(at);
    has_begun = true;
  }

  void take(std::span<const std::byte> bytes) {
    if (!has_begun) start();
    if (bytes.size() > request->most_bytes - at) {
      throw BloomgateError(
          ErrorCode::bad_input,
          request->url + " is longer than the " + std::to_string(request->most_bytes) + " bytes that it should have");
    }
    (*use)(bytes);
    at += bytes.size();
    received += bytes.size();
  }

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* data) {
    auto& curl = *static_cast<Curl*>(data);
    try {
      curl.take(std::as_bytes(std::span(bytes, size * count)));
      return size * count;
    } catch (...) {
      curl.exception = std::current_exception();
      return 0;
    }
  }
  static int on_progress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return *static_cast<Curl*>(data)->stop ? 1 : 0;
  }
};

WebFiles::WebFiles(const WebOptions& options, const std::atomic<bool>& stop)
    : curl_(std::make_unique<Curl>()), stop_(stop) {
  if (!curl_->handle) throw BloomgateError(ErrorCode::library_failed, "libcurl gives no handle");
  curl_->stop = &stop;
  curl_->set(CURLOPT_ERRORBUFFER, curl_->message);
  curl_->set(CURLOPT_NOSIGNAL, 1L);
  curl_->set(CURLOPT_PROTOCOLS_STR, "https,http");
  curl_->set(CURLOPT_FOLLOWLOCATION, 1L);
  curl_->set(CURLOPT_REDIR_PROTOCOLS_STR, "https");
  curl_->set(CURLOPT_MAXREDIRS, kMostRedirections);
  curl_->set(CURLOPT_FAILONERROR, 1L);
  curl_->set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_->set(CURLOPT_LOW_SPEED_LIMIT, kLeastBytesOfSecond);
  curl_->set(CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
  curl_->set(CURLOPT_TIMEOUT, static_cast<long>(options.timeout.count()));
  curl_->set(CURLOPT_USERAGENT, "bloomgate/" BLOOMGATE_VERSION);
  if (!options.proxy.empty()) curl_->set(CURLOPT_PROXY, options.proxy.c_str());
  curl_->set(CURLOPT_NOPROGRESS, 0L);
  curl_->set(CURLOPT_XFERINFOFUNCTION, &Curl::on_progress);
  curl_->set(CURLOPT_XFERINFODATA, curl_.get());
  curl_->set(CURLOPT_WRITEFUNCTION, &Curl::on_body);
  curl_->set(CURLOPT_WRITEDATA, curl_.get());
}

WebFiles::~WebFiles() = default;

WebFiles::Answer WebFiles::fetch(const Request& request, const Begin& begin, const Use& use) {
  Curl& curl = *curl_;
  curl.request = &request;
  curl.begin = &begin;
  curl.use = &use;
  curl.has_begun = false;
  curl.received = 0;
  curl.exception = {};
  curl.message[0] = '\0';
  curl.set(CURLOPT_URL, request.url.c_str());
  const std::string range = std::to_string(request.begin) + "-";
  curl.set(CURLOPT_RANGE, request.begin == 0 ? nullptr : range.c_str());
  curl_slist* fields = nullptr;
  if (!request.etag.empty()) fields = curl_slist_append(nullptr, ("If-None-Match: " + request.etag).c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> owned(fields, curl_slist_free_all);
  curl.set(CURLOPT_HTTPHEADER, fields);
  const CURLcode code = curl_easy_perform(curl.handle.get());
  bytes_ += curl.received;
  if (curl.exception) std::rethrow_exception(curl.exception);
  if (stop_) throw BloomgateError(ErrorCode::interrupted, "interrupted while " + request.url + " was fetched");
  if (code != CURLE_OK) {
    const std::string why = curl.message[0] != '\0' ? curl.message : curl_easy_strerror(code);
    throw BloomgateError(ErrorCode::no_answer, request.url + " cannot be fetched: " + printable(why));
  }
  constexpr long kNotModified = 304;
  Answer answer = {.is_unchanged = !request.etag.empty() && curl.status() == kNotModified};
  if (!answer.is_unchanged && !curl.has_begun) curl.start();  // the file has no bytes
  const std::string_view etag = curl.header("ETag");
  if (etag.size() <= kMostEtagBytes && printable(etag) == etag) answer.etag = etag;
  return answer;
}

}  // namespace bloomgate
