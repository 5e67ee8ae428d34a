#include "milter/glue/libmilter_context.hpp"

#include <libmilter/mfapi.h>

#include <exception>
#include <memory>
#include <utility>

#include "milter/glue/libmilter_input.hpp"

namespace bloomgate {
namespace {

// Its address marks a connection for which there was no memory: what belonged to its message is unknown.
char lost_connection;

std::unique_ptr<Connection> make_connection(std::shared_ptr<const ConnectionParts> parts, int socket) noexcept {
  try {
    return std::make_unique<Connection>(std::move(parts), socket);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

Connection* connection_of(SMFICTX* context, const PartsSlot& parts) noexcept {
  if (void* const known = smfi_getpriv(context); known != nullptr) {
    if (known == &lost_connection) return nullptr;
    auto* const connection = static_cast<Connection*>(known);
    connection->place().heard();
    return connection;
  }
  auto* const made = make_connection(parts.get(), socket_of_callback()).release();
  smfi_setpriv(context, made == nullptr ? static_cast<void*>(&lost_connection) : made);
  return made;
}

void forget_message(SMFICTX* context) noexcept {
  void* const known = smfi_getpriv(context);
  if (known == &lost_connection) {
    smfi_setpriv(context, nullptr);
  } else if (known != nullptr) {
    static_cast<Connection*>(known)->forget_message();
  }
}

void close_connection(SMFICTX* context) noexcept {
  forget_message(context);
  delete static_cast<Connection*>(smfi_getpriv(context));
  smfi_setpriv(context, nullptr);
}

std::string_view macro(SMFICTX* context, const char* name) noexcept {
  if (socket_of_callback() < 0) return {};  // what libmilter has stored was not checked
  const char* const value = smfi_getsymval(context, unconst(name));
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace bloomgate
