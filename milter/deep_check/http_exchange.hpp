// One HTTP request to a checker, through libcurl, and its answer. Used by rspamd_client.cpp; safe from any thread.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <memory>
#include <string>

#include "config/deep_check_options.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/message/message_text.hpp"

namespace bloomgate {

// The header fields of a request. Values must not contain line breaks.
class RequestFields {
 public:
  // An empty value adds no field. Throws std::bad_alloc.
  void add(const char* name, const std::string& value);

  // Removes a field that libcurl would add itself.
  void leave_out(const char* name);

  curl_slist* get() const noexcept { return list_.get(); }

 private:
  void add_line(const std::string& line);

  struct Free {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };
  std::unique_ptr<curl_slist, Free> list_;
};

struct HttpReply {
  long status = 0;
  std::string body;
};

// The most bytes of an answer's body, and of its header (twice the limit of web servers).
inline constexpr std::size_t kMaxHttpReplyBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxHttpHeaderBytes = std::size_t{16} << 10;

// `path` is appended to the server's URL. Both throw CheckerError, std::bad_alloc; post_message() also
// MessageTextError.
HttpReply http_get(const DeepCheckServer& server, const char* path, Deadline deadline);
HttpReply post_message(const DeepCheckServer& server, const char* path, const RequestFields& fields,
                       const MessageText& message, Deadline deadline);

}  // namespace bloomgate
