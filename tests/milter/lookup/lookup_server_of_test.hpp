// A server for look-ups on a unix socket, with answers of its own, for the tests of its two protocols.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "milter/lookup/lookup_server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// A server on a unix socket for which joe is listed, for ann pam too, and eve is revoked.
class LookupServerOfTest {
 public:
  explicit LookupServerOfTest(LookupLimits limits = {}) : socket_(listen_on(path_address(path()), AF_UNIX)) {
    server_.emplace(
        socket_.get(),
        LookupServer::Handlers{
            .answer = [this](const SenderQuestion& question,
                             std::chrono::steady_clock::time_point deadline) { return answer(question, deadline); },
            .on_fault =
                [this](const std::string& what) {
                  const std::lock_guard lock(mutex_);
                  faults_.push_back(what);
                },
            .admit_message = [](const HttpRequest&) { return admission(); },
            .on_refused_message =
                [this](const HttpAnswer& answer) {
                  const std::lock_guard lock(mutex_);
                  refused_.push_back(answer.status);
                },
            .on_second =
                [this] {
                  const std::lock_guard lock(mutex_);
                  ++seconds_;
                }},
        limits);
  }

  FileDescriptor connect() const { return connect_to(path()); }
  // What a client is told that sends so much and no more.
  std::string answer_to(std::string_view requests) const {
    const FileDescriptor client = connect();
    send_text(client, requests);
    shutdown(client.get(), SHUT_WR);  // fails where the server has hung up already
    return receive_all(client);
  }
  void end() { server_.reset(); }
  std::vector<std::string> faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }
  std::vector<std::chrono::steady_clock::time_point> deadlines() const {
    const std::lock_guard lock(mutex_);
    return deadlines_;
  }
  // The statuses of refused messages.
  std::vector<unsigned> refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  unsigned seconds() const {
    const std::lock_guard lock(mutex_);
    return seconds_;
  }

 private:
  std::string path() const { return folder_.file("lookup.sock"); }

  // Accepts messages of at most 10 bytes, for a moment, and calls each of them ambiguous.
  static HttpAdmission admission() {
    return {.body_bytes = 10,
            .request = std::chrono::milliseconds(300),
            .place = std::make_shared<int>(),
            .answer_later = [](std::string, HttpReply reply) { reply(http_refusal(400, "ambiguous")); }};
  }

  SenderStanding answer(const SenderQuestion& question, std::chrono::steady_clock::time_point deadline) {
    {
      const std::lock_guard lock(mutex_);
      deadlines_.push_back(deadline);
    }
    if (question.sender == "fault@example.org") throw std::runtime_error("no answer");
    if (question.sender == "joe@example.org") return SenderStanding::listed;
    if (question.sender == "pam@example.org" && question.recipient == "ann@ours.example") return SenderStanding::listed;
    return question.sender == "eve@example.org" ? SenderStanding::revoked : SenderStanding::neither;
  }

  TemporaryFolder folder_;
  FileDescriptor socket_;
  mutable std::mutex mutex_;
  std::vector<std::string> faults_;
  std::vector<std::chrono::steady_clock::time_point> deadlines_;
  std::vector<unsigned> refused_;
  unsigned seconds_ = 0;
  std::optional<LookupServer> server_;
};

}  // namespace bloomgate::test
