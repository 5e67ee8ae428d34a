#include "milter/monitoring/http_server.hpp"

#include <memory>
#include <utility>

namespace bloomgate {

HttpServer::HttpServer(int descriptor, const Handlers& handlers, const HttpLimits& limits)
    : limits_(limits),
      for_each_({.answer = handlers.reply, .on_fault = [this](const std::string& what) { socket_.report(what); }}),
      socket_(descriptor, "of the status page",
              {.has_room = [this] { return open_ < limits_.connections; },
               .take = [this](ClientStream stream) { take(std::move(stream)); },
               .on_fault = handlers.on_fault,
               .tick = handlers.tick,
               .interval = handlers.interval}) {
  socket_.start();
}

void HttpServer::take(ClientStream stream) {
  ++open_;
  std::shared_ptr<void> place(&open_, [this](void*) { --open_; });
  std::make_shared<HttpConnection>(std::move(stream), limits_, for_each_, std::move(place))->begin();
}

}  // namespace bloomgate
