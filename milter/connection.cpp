#include "milter/connection.hpp"

#include <libmilter/mfapi.h>

#include <new>

namespace bloomgate {
namespace {

// Its address stands for a connection for which there was no memory: what came with its message is not known.
char lost_connection;

std::unique_ptr<Connection> make_connection(const DeepCheckOptions* options) noexcept {
  try {
    auto made = std::make_unique<Connection>();
    if (options != nullptr) made->checked = std::make_unique<CheckedMessage>(*options);
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void end_message(Connection& connection, MessagesInProgress& in_progress) noexcept {
  connection.judgement.reset();
  connection.session.reset();
  if (connection.checked) connection.checked->reset();
  if (connection.in_message) in_progress.end();
  connection.in_message = false;
}

}  // namespace

Connection* connection_of(SMFICTX* context, const DeepCheckOptions* options) noexcept {
  if (void* const known = smfi_getpriv(context); known != nullptr) {
    return known == &lost_connection ? nullptr : static_cast<Connection*>(known);
  }
  auto* const made = make_connection(options).release();
  smfi_setpriv(context, made == nullptr ? static_cast<void*>(&lost_connection) : made);
  return made;
}

void begin_message(Connection& connection, MessagesInProgress& in_progress) noexcept {
  connection.in_message = true;
  in_progress.begin();
}

void forget_message(SMFICTX* context, MessagesInProgress& in_progress) noexcept {
  void* const known = smfi_getpriv(context);
  if (known == &lost_connection) {
    smfi_setpriv(context, nullptr);
  } else if (known != nullptr) {
    end_message(*static_cast<Connection*>(known), in_progress);
  }
}

void close_connection(SMFICTX* context, MessagesInProgress& in_progress) noexcept {
  forget_message(context, in_progress);
  delete static_cast<Connection*>(smfi_getpriv(context));
  smfi_setpriv(context, nullptr);
}

}  // namespace bloomgate
