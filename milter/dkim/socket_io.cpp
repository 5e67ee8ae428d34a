#include "milter/dkim/socket_io.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

// Returns false if the deadline has passed.
bool wait_for(int descriptor, short events, Deadline deadline) noexcept {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready = {.fd = descriptor, .events = events, .revents = 0};
    const int count = poll(&ready, 1, static_cast<int>(std::min<long>(left, 3'600'000)));
    if (count != 0) return true;  // if poll has failed, the next call gives the reason
  }
}

bool would_block() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

SocketResult send_all(int descriptor, std::string_view bytes, Deadline deadline,
                      const std::function<void()>& before_waiting) noexcept {
  bool has_waited = false;
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (!would_block()) return SocketResult::closed;
    if (!has_waited && before_waiting) before_waiting();
    has_waited = true;
    if (!wait_for(descriptor, POLLOUT, deadline)) return SocketResult::timed_out;
  }
  return SocketResult::done;
}

SocketResult receive_all(int descriptor, std::span<char> into, Deadline deadline) noexcept {
  while (!into.empty()) {
    const ssize_t got = recv(descriptor, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) return SocketResult::closed;
    if (errno == EINTR) continue;
    if (!would_block()) return SocketResult::closed;
    if (!wait_for(descriptor, POLLIN, deadline)) return SocketResult::timed_out;
  }
  return SocketResult::done;
}

SocketResult send_part(int descriptor, wire::Kind kind, std::string_view bytes, Deadline deadline,
                       const std::function<void()>& before_waiting) {
  // Neither side sends more at once than the other one accepts.
  if (bytes.size() > wire::kMaxPartBytes) return SocketResult::closed;
  const std::string head = wire::head_bytes({kind, static_cast<std::uint32_t>(bytes.size())});
  const SocketResult result = send_all(descriptor, head, deadline, before_waiting);
  return result == SocketResult::done ? send_all(descriptor, bytes, deadline, before_waiting) : result;
}

std::optional<Part> receive_part(int descriptor, Deadline deadline, SocketResult& result) {
  std::array<char, wire::kHeadBytes> bytes;
  result = receive_all(descriptor, bytes, deadline);
  if (result != SocketResult::done) return std::nullopt;
  const std::optional<wire::Head> head = wire::read_head({bytes.data(), bytes.size()});
  if (!head) {
    result = SocketResult::closed;
    return std::nullopt;
  }
  Part part = {head->kind, std::string(head->size, '\0')};
  result = receive_all(descriptor, part.bytes, deadline);
  return result == SocketResult::done ? std::optional(std::move(part)) : std::nullopt;
}

bool send_descriptor(int control, int descriptor) noexcept {
  char byte = 'v';
  iovec data = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> buffer = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = buffer.data();
  message.msg_controllen = buffer.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ssize_t sent = -1;
  do {
    sent = sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

FileDescriptor receive_descriptor(int control, bool& is_closed) noexcept {
  char byte = 0;
  iovec data = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> buffer = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = buffer.data();
  message.msg_controllen = buffer.size();
  const ssize_t got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
  is_closed = got == 0 || (got < 0 && errno != EINTR && errno != EMFILE && errno != ENOMEM);
  const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return FileDescriptor();
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return FileDescriptor(descriptor);
}

std::pair<FileDescriptor, FileDescriptor> socket_pair(int type) noexcept {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) return {FileDescriptor(), FileDescriptor()};
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace bloomgate
