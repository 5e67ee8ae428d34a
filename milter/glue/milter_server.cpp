#include "milter/glue/milter_server.hpp"

#include <fcntl.h>
#include <libmilter/mfapi.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/base/error.hpp"
#include "milter/glue/libmilter_input.hpp"

namespace bloomgate {

MilterServer::MilterServer(const PartsSlot& parts, std::unique_ptr<ListeningSocket> socket, ConnectionWatch& watch,
                           std::function<void(bool)> on_end)
    : socket_(std::move(socket)) {
  set_connection_parts(&parts);
  // libmilter closes the descriptor that it gets.
  const int descriptor = fcntl(socket_->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot duplicate the socket: " + std::generic_category().message(errno));
  }
  guard_libmilter(descriptor, watch);
  std::string address = "fd:" + std::to_string(descriptor);
  if (smfi_register(callback_description()) != MI_SUCCESS || smfi_setconn(address.data()) != MI_SUCCESS ||
      smfi_opensocket(false) != MI_SUCCESS) {
    throw BloomgateError(ErrorCode::library_failed, "libmilter refused to start; its reason is in the system log");
  }
  std::thread([on_end = std::move(on_end)] { on_end(smfi_main() == MI_SUCCESS); }).detach();
}

}  // namespace bloomgate
