#include "milter/names/server_watch.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kUsualTime = 200ms;   // an answer that takes longer is worth a probe
constexpr auto kLongTime = 1s;       // an answer that takes longer than this is evidence
constexpr auto kProbeInterval = 1s;  // the least time from one probe's start to the next one's
constexpr auto kProbePatience = 2s;
constexpr auto kEvidenceLasts = 30s;
constexpr std::size_t kMostNames = 1000;

constexpr std::uint16_t kSoaType = 6, kTxtType = 16, kInternetClass = 1;
constexpr std::size_t kHeaderBytes = 12;  // RFC 1035, section 4.1.1
constexpr unsigned char kIsResponse = 0x80, kRcode = 0x0f, kServerFailure = 2;

void put16(std::string& out, std::uint16_t number) {
  out += static_cast<char>(number >> 8);
  out += static_cast<char>(number & 0xff);
}

// A query with recursion desired (RFC 1035 section 4); empty if the name is invalid.
std::string question(std::uint16_t id, std::string_view name, std::uint16_t type) {
  constexpr std::size_t kMostLabelBytes = 63, kMostNameBytes = 253;
  if (name.empty() || name.size() > kMostNameBytes) return {};
  std::string out;
  put16(out, id);
  constexpr std::uint16_t kRest[] = {0x0100, 1, 0, 0, 0};  // flags; questions, answers and so on
  for (const std::uint16_t number : kRest) put16(out, number);
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kMostLabelBytes) return {};
    out += static_cast<char>(label.size());
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  out += '\0';
  put16(out, type);
  put16(out, kInternetClass);
  return out;
}

unsigned device_number(const std::string& scope) noexcept {
  unsigned number = 0;
  const char* const end = scope.data() + scope.size();
  if (std::from_chars(scope.data(), end, number).ptr == end) return number;
  return if_nametoindex(scope.c_str());
}

FileDescriptor connected(const NameServer& server) noexcept {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  if (is_ipv4(server.address)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    std::memcpy(&address.sin_addr, server.address.bytes.data() + 12, sizeof address.sin_addr);
    std::memcpy(&storage, &address, size = sizeof address);
  } else {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(server.port);
    std::memcpy(&address.sin6_addr, server.address.bytes.data(), sizeof address.sin6_addr);
    if (!server.scope.empty()) address.sin6_scope_id = device_number(server.scope);
    std::memcpy(&storage, &address, size = sizeof address);
  }
  FileDescriptor socket_to(socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_to.is_open() && connect(socket_to.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    socket_to.reset();
  }
  return socket_to;
}

// Queries name servers directly, without libunbound's cache and waiting times, to find out whether any of them answers
// at all. A port that refuses is noticed at once, since the sockets are connected.
class Probe {
 public:
  Probe(const std::vector<NameServer>& servers, const std::string& name) {
    std::uint16_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
      id = static_cast<std::uint16_t>(Clock::now().time_since_epoch().count());
    id_ = id;
    questions_ = {question(id, "com", kSoaType), question(id, name, kTxtType)};
    for (const NameServer& server : servers) sockets_.push_back(connected(server));
  }

  void send() noexcept {
    for (FileDescriptor& each : sockets_) {
      for (const std::string& text : questions_) {
        if (each.is_open() && !text.empty() && ::send(each.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0 &&
            errno != EAGAIN) {
          each.reset();
        }
      }
    }
  }

  bool is_unreachable() const noexcept {
    return std::ranges::none_of(sockets_, [](const FileDescriptor& each) { return each.is_open(); });
  }

  // Returns whether an answer came before `until`.
  bool wait(Clock::time_point until, int stop) {
    while (!is_unreachable()) {
      std::vector<pollfd> ready = {{.fd = stop, .events = POLLIN, .revents = 0}};
      for (const FileDescriptor& each : sockets_) ready.push_back({.fd = each.get(), .events = POLLIN, .revents = 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      if (poll(ready.data(), ready.size(), static_cast<int>(left)) <= 0 || ready[0].revents != 0) return false;
      for (std::size_t index = 0; index < sockets_.size(); ++index) {
        if (ready[index + 1].revents != 0 && reads_answer(sockets_[index])) return true;
      }
    }
    return false;
  }

 private:
  bool reads_answer(FileDescriptor& from) const noexcept {
    std::array<unsigned char, 4096> reply;
    const ssize_t size = recv(from.get(), reply.data(), reply.size(), 0);
    if (size < 0 && errno != EAGAIN && errno != EINTR) from.reset();  // ECONNREFUSED, EHOSTUNREACH
    return size >= static_cast<ssize_t>(kHeaderBytes) && (reply[0] << 8 | reply[1]) == id_ &&
           (reply[2] & kIsResponse) != 0 && (reply[3] & kRcode) != kServerFailure;
  }

  int id_ = 0;
  std::array<std::string, 2> questions_;
  std::vector<FileDescriptor> sockets_;
};

enum class ServersState {
  answering,    // one of them answered, even if only that there is no such name
  silent,       // none answered in time, or all answered SERVFAIL
  unreachable,  // the port or network of each one refuses
};

// Queries all `servers` for the SOA record of `com`, which no sender of mail can slow down, and for the TXT record of
// `name` if that is not empty. Waits up to `patience` and sends twice; returns earlier if `stop` is readable. Throws
// std::bad_alloc.
ServersState probe_servers(const std::vector<NameServer>& servers, const std::string& name,
                           std::chrono::milliseconds patience, int stop) {
  Probe probe(servers, name);
  const Clock::time_point start = Clock::now();
  for (const Clock::time_point until : {start + patience / 2, start + patience}) {
    probe.send();
    if (probe.wait(until, stop)) return ServersState::answering;
  }
  return probe.is_unreachable() ? ServersState::unreachable : ServersState::silent;
}

}  // namespace

ServerWatch::ServerWatch(std::vector<NameServer> servers, std::function<void(bool)> on_change)
    : servers_(std::move(servers)), on_change_(std::move(on_change)), stop_event_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_event_.is_open()) throw std::system_error(errno, std::generic_category(), "cannot watch the name servers");
  if (!servers_.empty()) thread_ = std::thread([this] { run(); });
}

void ServerWatch::add(const std::shared_ptr<AwaitedAnswer>& answer) {
  if (servers_.empty()) return;
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return;
  started_.push_back(answer);
  if (started_.size() == 1) changed_.notify_one();
}

void ServerWatch::want(const std::string& name) {
  const std::lock_guard lock(mutex_);
  wanted_ = name;
}

void ServerWatch::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_event_.get(), &one, sizeof one));
  changed_.notify_one();
  thread_.join();
  is_failing_ = false;
}

void ServerWatch::run() noexcept {
  while (true) {
    try {
      watch();
      return;
    } catch (const std::exception&) {
      // No memory: the observations are dropped.
      const std::lock_guard lock(mutex_);
      started_.clear();
      unanswered_.clear();
    }
  }
}

// Returns false if the watch has to end.
bool ServerWatch::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (!is_failing()) changed_.wait(lock, [this] { return is_stopping_ || !started_.empty(); });
  // A look-up is usually complete after this time.
  changed_.wait_for(lock, kUsualTime, [this] { return is_stopping_; });
  return !is_stopping_;
}

bool ServerWatch::needs_probe(Clock::time_point now) {
  bool is_unusual = is_failing();
  for (auto each = started_.begin(); each != started_.end();) {
    const std::optional<TxtStatus> status = (*each)->status();
    const auto age = now - (*each)->start();
    const bool is_late = !status && age >= kUsualTime;
    const bool has_failed = status == TxtStatus::server_failed || status == TxtStatus::timed_out;
    is_unusual = is_unusual || is_late || has_failed;
    if ((has_failed || (!status && age >= kLongTime)) && unanswered_.size() < kMostNames) {
      unanswered_[(*each)->name()] = now;
    }
    each = status ? started_.erase(each) : std::next(each);
  }
  std::erase_if(unanswered_, [now](const auto& each) { return now - each.second > kEvidenceLasts; });
  return is_unusual;
}

void ServerWatch::watch() {
  Clock::time_point last_probe{};
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    const Clock::time_point now = Clock::now();
    if (!needs_probe(now) || now - last_probe < kProbeInterval) continue;
    last_probe = now;
    const std::string name = is_failing() ? wanted_ : std::string();
    lock.unlock();
    const ServersState state = probe_servers(servers_, name, kProbePatience, stop_event_.get());
    lock.lock();
    if (is_stopping_) return;
    if (state == ServersState::answering) unanswered_.clear();
    needs_probe(Clock::now());
    const bool fails = state == ServersState::unreachable ||
                       (state == ServersState::silent && (is_failing() || unanswered_.size() >= kLeastNames));
    const bool is_change = fails != is_failing();
    is_failing_ = fails;
    if (fails) {
      for (const auto& each : started_) each->set({.status = TxtStatus::not_asked});
      started_.clear();
    }
    if (!is_change || !on_change_) continue;
    lock.unlock();
    on_change_(fails);
    lock.lock();
  }
}

}  // namespace bloomgate
