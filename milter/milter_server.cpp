#include "milter/milter_server.hpp"

#include <fcntl.h>
#include <libmilter/mfapi.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "milter/start_error.hpp"

namespace bloomgate {

MilterServer::MilterServer(const CallbackContext& context, std::unique_ptr<ListeningSocket> socket,
                           std::function<void()> on_end)
    : socket_(std::move(socket)) {
  set_callback_context(&context);
  // libmilter closes the descriptor that it is given.
  const int descriptor = fcntl(socket_->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    throw StartError(EX_OSERR, "cannot duplicate the socket: " + std::generic_category().message(errno));
  }
  std::string address = "fd:" + std::to_string(descriptor);
  if (smfi_register(callback_description()) != MI_SUCCESS || smfi_setconn(address.data()) != MI_SUCCESS ||
      smfi_opensocket(false) != MI_SUCCESS) {
    throw StartError(EX_SOFTWARE, "libmilter refused to start; its reason is in the system log");
  }
  result_ = std::async(std::launch::async, [on_end = std::move(on_end)] {
    const int result = smfi_main();
    on_end();
    return result;
  });
}

bool MilterServer::stop() {
  using namespace std::chrono_literals;
  // smfi_stop() waits for a lock that libmilter holds while it waits for a connection, up to five seconds; so it waits
  // in a thread of its own, and the connections are ours.
  std::thread(smfi_stop).detach();
  while (result_.wait_for(10ms) != std::future_status::ready) socket_->poke();
  socket_.reset();
  return result_.get() == MI_SUCCESS;
}

}  // namespace bloomgate
