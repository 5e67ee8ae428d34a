#include "milter/deep_check/checkers.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "filter/base/printable.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/curl_handle.hpp"
#include "milter/deep_check/rspamd_client.hpp"
#include "milter/deep_check/spamd_client.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Checkers::Checkers(DeepCheckOptions options)
    : options_(std::move(options)), places_(options_.connections), order_(options_.servers.size()) {
  prepare_curl();
}

DeepResult Checkers::ask(const Envelope& envelope, const MessageText& message) {
  const Deadline deadline = Clock::now() + options_.timeout;
  const FreePlaces::Place place = places_.take(deadline);
  if (!place) {
    throw DeepCheckError(fmt::format("all connections to the deeper check ({}) were taken for {} s",
                                     options_.connections, std::chrono::duration<double>(options_.timeout).count()));
  }
  std::vector<std::string> failures;
  const std::vector<std::size_t> order = order_.next(Clock::now());
  for (std::size_t tried = 0; tried < order.size(); ++tried) {
    const DeepCheckServer& server = options_.servers[order[tried]];
    const auto now = Clock::now();
    const Deadline share = now + (deadline - now) / (order.size() - tried);
    try {
      DeepResult result = server.kind == DeepCheckServer::Kind::rspamd ? ask_rspamd(server, envelope, message, share)
                                                                       : ask_spamd(server, envelope, message, share);
      order_.answered(order[tried]);
      result.server = to_string(server);
      result.failures = std::move(failures);
      return result;
    } catch (const CheckerError& error) {
      order_.failed(order[tried], Clock::now());
      failures.push_back(printable(fmt::format("{}: {}", to_string(server), error.what())));
    }
  }
  throw DeepCheckError(fmt::format("no deeper check has answered: {}", fmt::join(failures, "; ")));
}

AskChecker ask_checkers(DeepCheckOptions options) {
  return [checkers = std::make_shared<Checkers>(std::move(options))](
             const Envelope& envelope, const MessageText& text) { return checkers->ask(envelope, text); };
}

std::string reach(const DeepCheckServer& server, std::chrono::milliseconds timeout) {
  const Deadline deadline = Clock::now() + timeout;
  try {
    (server.kind == DeepCheckServer::Kind::rspamd ? ping_rspamd : ping_spamd)(server, deadline);
    return {};
  } catch (const CheckerError& error) {
    return printable(error.what());
  }
}

}  // namespace bloomgate
