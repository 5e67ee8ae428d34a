#include "milter/serving/socket_loop.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/system/held_signals.hpp"

namespace bloomgate {
namespace {

using Fault = boost::system::error_code;

constexpr std::chrono::milliseconds kAfterFault{1000};

int duplicate(int descriptor, const std::string& whose) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) return copy;
  throw BloomgateError(ErrorCode::no_system_resource,
                       "cannot duplicate the socket " + whose + ": " + std::generic_category().message(errno));
}

int family_of(int descriptor) noexcept {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes);
  return address.ss_family;
}

}  // namespace

SocketLoop::SocketLoop(int descriptor, std::string whose, Handlers handlers)
    : whose_(std::move(whose)),
      handlers_(std::move(handlers)),
      acceptor_(context_, Protocol(family_of(descriptor), 0), duplicate(descriptor, whose_)),
      pause_(context_) {}

void SocketLoop::start() {
  accept();
  const HeldSignals held;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw BloomgateError(ErrorCode::no_system_resource, "cannot start the thread " + whose_ + ": " + error.what());
  }
}

void SocketLoop::stop() {
  context_.stop();
  thread_.join();
}

// Takes up the next connection as soon as there is room for it, also after a handler that threw.
void SocketLoop::run() noexcept {
  for (;;) {
    try {
      while (context_.run_one() != 0) {
        if (!is_accepting_ && handlers_.has_room()) accept();
      }
      return;
    } catch (const std::exception& error) {
      // Out of memory, most likely. The connection that it was about is closed.
      report(error.what());
    }
  }
}

void SocketLoop::accept() {
  acceptor_.async_accept([this](const Fault& fault, Socket socket) {
    if (!fault) {
      is_accepting_ = false;
      return handlers_.take(std::move(socket));
    }
    // No descriptor is left, most likely. Others need them more, so this can wait.
    report("cannot take a connection: " + fault.message());
    pause_.expires_after(kAfterFault);
    pause_.async_wait([this](const Fault&) { is_accepting_ = false; });
  });
  is_accepting_ = true;
}

void SocketLoop::report(const std::string& what) const noexcept {
  if (handlers_.on_fault) handlers_.on_fault(what);
}

}  // namespace bloomgate
