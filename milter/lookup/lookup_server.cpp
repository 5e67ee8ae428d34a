#include "milter/lookup/lookup_server.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <list>
#include <span>
#include <utility>

#include "filter/base/ascii.hpp"
#include "milter/lookup/http_lookup.hpp"
#include "milter/lookup/socketmap.hpp"
#include "milter/serving/http_connection.hpp"
#include "milter/serving/local_socket.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kMap = "senders";
constexpr std::string_view kNotFound = "NOTFOUND ";
// The limit for the header of an HTTP request. A request for a message contains some hundred recipients.
constexpr std::size_t kMaxLookupHeaderBytes = std::size_t{32} << 10;

}  // namespace

// One connection, which lives as long as one of its operations is in progress. It reads, answers all complete requests,
// and reads again once the answers were fetched. A client whose first byte is a letter speaks HTTP, since a netstring
// begins with a digit: it continues as an HttpConnection, and keeps its place here.
class LookupServer::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(LookupServer& server, ClientStream stream)
      : server_(server),
        stream_(std::move(stream)),
        place_(server.by_silence_.insert(server.by_silence_.end(), this)) {}
  ~Client() { leave(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void read() {
    // Further bytes of a request that has begun do not extend its deadline.
    if (held_ == 0) stream_.expire_never();
    stream_.read_some(std::span(buffer_).subspan(held_),
                      [self = shared_from_this()](std::size_t count) { self->take(count); });
  }

  bool has_place() const noexcept {
    const auto http = http_.lock();
    return http && http->has_place();
  }

  void hang_up() {
    leave();
    if (const auto http = http_.lock()) return http->hang_up();
    stream_.hang_up();
  }

 private:
  // A client that was told to disconnect is no longer in the list.
  void be_heard() noexcept {
    if (is_served_) server_.by_silence_.splice(server_.by_silence_.end(), server_.by_silence_, place_);
  }

  void leave() noexcept {
    if (is_served_) server_.by_silence_.erase(place_);
    is_served_ = false;
  }

  void take(std::size_t count) {
    if (!is_served_) return;
    be_heard();
    const bool has_begun = held_ != 0;
    held_ += count;
    if (is_new_ && ascii::is_letter(buffer_.front())) return go_on_by_http();
    is_new_ = false;
    const bool is_well = answer_requests();
    if (!answers_.empty()) return send(is_well);
    if (!has_begun) stream_.expire_after(server_.limits_.request);
    read();
  }

  void go_on_by_http() {
    const auto http = std::make_shared<HttpConnection>(
        std::move(stream_), server_.http_limits_, server_.http_handlers_, shared_from_this(), [this] { be_heard(); },
        std::string_view(buffer_.data(), held_));
    http_ = http;
    http->begin();
  }

  // Returns false if the remaining bytes are not a request, and cannot become one.
  bool answer_requests() {
    const auto wait_until = server_.wait_until();
    std::string_view rest(buffer_.data(), held_);
    Netstring next = read_netstring(rest);
    for (; next.state == Netstring::State::complete; next = read_netstring(rest)) {
      answers_ += netstring_of(reply_to(socketmap_request(next.payload), wait_until));
      rest.remove_prefix(next.bytes);
    }
    if (next.state == Netstring::State::malformed) {
      answers_ += netstring_of("PERM expected a netstring of at most " + std::to_string(kMaxSocketmapRequestBytes) +
                               " bytes, as in 23:senders joe@example.org,");
      return false;
    }
    std::memmove(buffer_.data(), rest.data(), rest.size());
    held_ = rest.size();
    return true;
  }

  std::string reply_to(const SocketmapRequest& request, std::chrono::steady_clock::time_point wait_until) const {
    if (request.map != kMap) return "PERM the only map here is 'senders'";
    const std::string_view name = standing_name(server_.standing_of(sender_question(request.key), wait_until));
    return name.empty() ? std::string(kNotFound) : std::string("OK ").append(name);
  }

  void send(bool goes_on) {
    stream_.expire_after(server_.limits_.answer);
    stream_.write(answers_, [self = shared_from_this(), goes_on] {
      self->answers_.clear();
      if (!goes_on || !self->is_served_) return;
      if (self->held_ != 0) self->stream_.expire_after(self->server_.limits_.request);
      self->read();
    });
  }

  LookupServer& server_;
  ClientStream stream_;  // empty after the switch to HTTP
  std::list<Client*>::iterator place_;
  std::weak_ptr<HttpConnection> http_;  // which owns this object
  bool is_served_ = true;
  bool is_new_ = true;  // nothing was received yet
  // Room for many requests at once; the longest one alone always fits.
  std::array<char, 16384> buffer_;
  std::size_t held_ = 0;  // at the front of the buffer: bytes that are not answered yet
  std::string answers_;
};

LookupServer::LookupServer(int descriptor, Handlers handlers, LookupLimits limits)
    : handlers_(std::move(handlers)),
      limits_(limits),
      http_limits_({.header_bytes = kMaxLookupHeaderBytes,
                    .body_bytes = kMaxPostedBytes,
                    .requests = limits.requests,
                    .request = limits.request,
                    .answer = limits.answer,
                    .idle = limits.idle}),
      http_handlers_({.answer = [this](const HttpRequest& request) { return answer(request); },
                      .admit = [this](const HttpRequest& request) { return admit(request); },
                      .on_refusal =
                          [this](const HttpRequest& request, const HttpAnswer& answer) {
                            if (handlers_.on_refused_message && asks_for_message(request))
                              handlers_.on_refused_message(answer);
                          },
                      .on_fault = [this](const std::string& what) { socket_.report(what); }}),
      is_local_(is_local_socket(descriptor)),
      socket_(descriptor, "for look-ups",
              {.has_room = [] { return true; },  // the one that has been silent longest is disconnected
               .take = [this](ClientStream stream) { take(std::move(stream)); },
               .on_fault = handlers_.on_fault,
               .tick = handlers_.on_second,
               .interval = std::chrono::seconds(1)}) {
  socket_.start();
}

void LookupServer::take(ClientStream stream) {
  if (by_silence_.size() >= limits_.connections) {
    const auto idle = std::ranges::find_if(by_silence_, [](const Client* client) { return !client->has_place(); });
    if (idle != by_silence_.end()) (*idle)->hang_up();
  }
  std::make_shared<Client>(*this, std::move(stream))->read();
}

HttpAdmission LookupServer::admit(const HttpRequest& request) const {
  if (auto refusal = foreign_host_refusal(request, is_local_)) return {.refusal = *std::move(refusal)};
  if (!asks_for_message(request)) return {.body_bytes = kMaxPostedBytes, .request = limits_.request};
  if (handlers_.admit_message) return handlers_.admit_message(request);
  return {.refusal = http_refusal(404, "no messages are decided here; lookup-messages says how many are at once")};
}

HttpAnswer LookupServer::answer(const HttpRequest& request) const {
  if (auto refusal = foreign_host_refusal(request, is_local_)) return *std::move(refusal);
  const auto until = wait_until();
  return answer_over_http(request,
                          [this, until](const SenderQuestion& question) { return standing_of(question, until); });
}

SenderStanding LookupServer::standing_of(const SenderQuestion& question,
                                         std::chrono::steady_clock::time_point wait_until) const {
  try {
    return handlers_.answer(question, wait_until);
  } catch (const std::exception& error) {
    socket_.report(std::string("a sender could not be looked up: ") + error.what());
    return SenderStanding::neither;
  }
}

}  // namespace bloomgate
