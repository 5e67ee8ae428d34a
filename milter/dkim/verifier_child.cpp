#include "milter/dkim/verifier_child.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "milter/dkim/library_verifier.hpp"
#include "milter/dkim/socket_io.hpp"
#include "milter/dkim/wire.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxOptionsBytes = std::size_t{1} << 16;

// No deadline of its own: if a conversation takes too long, the daemon ends it, and then its socket closes.
Deadline whenever() noexcept {
  return std::chrono::steady_clock::now() + std::chrono::hours(24);
}

// A message's conversation, in a separate thread. If it breaks off, the daemon has abandoned the message.
void converse(Verifier& verifier, int socket) {
  SocketResult result = SocketResult::done;
  std::optional<Part> part = receive_part(socket, whenever(), result);
  if (!part || part->kind != wire::Kind::begin) return;
  const std::optional<wire::OwnedRequest> request = wire::decode_request(part->bytes);
  if (!request) return;
  const std::vector<std::string_view> header(request->header.begin(), request->header.end());
  const std::unique_ptr<Verification> verification =
      verifier.begin({.header = header, .need = request->need, .now = request->now});
  while ((part = receive_part(socket, whenever(), result)) && part->kind == wire::Kind::body) {
    verification->add_body(part->bytes);
  }
  if (!part || part->kind != wire::Kind::end) return;
  static_cast<void>(send_part(socket, wire::Kind::found, wire::encode(verification->finish()), whenever()));
}

void serve(Verifier& verifier) {
  while (true) {
    bool is_closed = false;
    FileDescriptor socket = receive_descriptor(kVerifierControl, is_closed);
    if (is_closed) return;
    if (!socket.is_open()) continue;
    try {
      std::thread([&verifier, owned = std::move(socket)] {
        try {
          converse(verifier, owned.get());
        } catch (const std::exception&) {
          // No memory: the daemon sees the socket close.
        }
      }).detach();
    } catch (const std::exception&) {
      // No thread is left: the same.
    }
  }
}

bool answer(std::string_view text) noexcept {
  return send(kVerifierControl, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Waits while the daemon has not read the earlier notes.
void tell(const wire::Note& note) noexcept {
  try {
    const std::string bytes = wire::encode(note);
    static_cast<void>(send(kVerifierControl, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  } catch (const std::exception&) {
    // No memory: the note is dropped.
  }
}

ResolverReports told_reports() {
  using Kind = wire::Note::Kind;
  return {.on_servers = [](const std::string& text) { tell({.kind = Kind::servers, .text = text}); },
          .on_failing = [](bool failing) { tell({.kind = failing ? Kind::failing : Kind::working}); },
          .on_key = [](TxtStatus status,
                       std::chrono::microseconds took) { tell({.kind = Kind::key, .status = status, .took = took}); }};
}

}  // namespace

int run_verifier_child() noexcept {
  constexpr int kFailed = 1;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE}) static_cast<void>(std::signal(signal, SIG_IGN));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    std::string bytes(kMaxOptionsBytes, '\0');
    const ssize_t size = recv(kVerifierControl, bytes.data(), bytes.size(), 0);
    const auto options = size > 0 ? wire::decode_options({bytes.data(), static_cast<std::size_t>(size)}) : std::nullopt;
    if (!options) return kFailed;
    Resolver resolver(options->resolver, told_reports());
    LibraryVerifier verifier(options->rules, resolver);
    if (answer("+" + resolver.description())) serve(verifier);
    // Conversations may be in progress: nothing is destroyed.
    std::_Exit(0);
  } catch (const std::exception& error) {
    static_cast<void>(answer(std::string("-") + error.what()));
  }
  return kFailed;
}

}  // namespace bloomgate
