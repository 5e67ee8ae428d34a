#include "milter/deep_check/reach.hpp"

#include "filter/base/printable.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/rspamd_client.hpp"
#include "milter/deep_check/spamd_client.hpp"

namespace bloomgate {

std::string reach(const DeepCheckServer& server, std::chrono::milliseconds timeout) {
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  try {
    switch (server.kind) {
      case DeepCheckServer::Kind::rspamd:
        ping_rspamd(server, deadline);
        break;
      case DeepCheckServer::Kind::spamd:
        ping_spamd(server, deadline);
        break;
    }
    return {};
  } catch (const CheckerError& error) {
    return printable(error.what());
  }
}

}  // namespace bloomgate
