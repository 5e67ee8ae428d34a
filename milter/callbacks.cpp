#include "milter/callbacks.hpp"

#include <libmilter/mfapi.h>
#include <sys/socket.h>

#include <exception>
#include <new>
#include <string_view>

#include "config/ip_network.hpp"
#include "config/printable.hpp"
#include "milter/negotiation.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

const CallbackContext* shared = nullptr;

// One connection of the mail server.
struct Connection {
  Session session;
  bool in_message = false;
};

// Its address stands for a connection for which there was no memory: what came with its message is not known.
char lost_connection;

// libmilter takes its strings as pointers to non-const, and changes none of them.
char* unconst(const char* text) noexcept {
  return const_cast<char*>(text);
}

std::string_view macro(SMFICTX* context, const char* name) noexcept {
  const char* const value = smfi_getsymval(context, unconst(name));
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Made when first asked for, since a mail server may use a connection for another session without negotiating again
// (SMFIC_QUIT_NC), and on_close() comes in between. Null where there is no memory for it.
Connection* connection_of(SMFICTX* context) noexcept {
  if (void* const known = smfi_getpriv(context); known != nullptr) {
    return known == &lost_connection ? nullptr : static_cast<Connection*>(known);
  }
  auto* const made = new (std::nothrow) Connection;
  smfi_setpriv(context, made == nullptr ? static_cast<void*>(&lost_connection) : made);
  return made;
}

void end_message(Connection& connection) noexcept {
  connection.session.reset();
  if (connection.in_message) shared->in_progress->end();
  connection.in_message = false;
}

// The message is over, or given up. A connection that was lost gets another chance with the next message.
void forget_message(SMFICTX* context) noexcept {
  void* const known = smfi_getpriv(context);
  if (known == &lost_connection) {
    smfi_setpriv(context, nullptr);
  } else if (known != nullptr) {
    end_message(*static_cast<Connection*>(known));
  }
}

void log_exception(const char* where) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    shared->log->error("internal error {}: {}; the message is sent to the deeper checks", where,
                       printable(error.what()));
  } catch (...) {
    shared->log->error("internal error {}; the message is sent to the deeper checks", where);
  }
}

// Every callback goes through here.
template <typename Body, typename OnException>
sfsistat guarded(const char* where, Body body, OnException on_exception) noexcept {
  try {
    return body();
  } catch (...) {
    log_exception(where);
    return on_exception();
  }
}

// Forged fields are removed from the last to the first, since each removal renumbers those behind it (CVE-2022-48521 is
// what the other order leads to). Ours goes to the very top, unless `value` is null. False: the mail server did not
// take it.
bool edit_headers(SMFICTX* context, int forged_headers, const char* value) noexcept {
  char* const name = unconst(kHeaderName.data());
  for (int index = forged_headers; index >= 1; --index) {
    if (smfi_chgheader(context, name, index, nullptr) != MI_SUCCESS) return false;
  }
  return value == nullptr || smfi_insheader(context, 0, name, unconst(value)) == MI_SUCCESS;
}

// Marks the message, or only removes what it came with where `value` is null. Where that fails, the sender's mail
// server is to try again later: the message must neither be lost nor go on with a forged field on it.
sfsistat mark(SMFICTX* context, const Session& session, const char* value) noexcept {
  if (shared->mode == Mode::observe || edit_headers(context, session.forged_headers(), value)) return SMFIS_CONTINUE;
  shared->log->error("the headers of a message could not be edited; it is refused for now (a temporary failure)");
  return SMFIS_TEMPFAIL;
}

std::string_view host_of(SMFICTX* context) noexcept {
  if (!shared->host_name.empty()) return shared->host_name;
  const std::string_view told = macro(context, "j");
  return is_host_name(told) ? told : std::string_view(shared->fallback_host);
}

sfsistat on_negotiate(SMFICTX* context, unsigned long actions, unsigned long steps, unsigned long /*unused*/,
                      unsigned long /*unused*/, unsigned long* asked_actions, unsigned long* asked_steps,
                      unsigned long* asked_unused_0, unsigned long* asked_unused_1) noexcept {
  const auto negotiate = [=]() -> sfsistat {
    const MilterRequest request = milter_request({actions, steps}, shared->mode);
    if (!request.missing.empty()) {
      shared->log->error("a mail server was refused: it does not offer what is needed: {}", request.missing);
      return SMFIS_REJECT;
    }
    *asked_actions = request.actions;
    *asked_steps = request.steps;
    *asked_unused_0 = 0;
    *asked_unused_1 = 0;
    if (request.choose_macros) {
      // Sendmail takes no list for the end of a message: j comes with the connection, too.
      smfi_setsymlist(context, SMFIM_CONNECT, unconst("j {daemon_name}"));
      smfi_setsymlist(context, SMFIM_ENVFROM, unconst("i {auth_authen}"));
      smfi_setsymlist(context, SMFIM_EOM, unconst("i j"));
    }
    return SMFIS_CONTINUE;
  };
  return guarded("while a mail server connected", negotiate, [] { return SMFIS_REJECT; });
}

sfsistat on_connect(SMFICTX* context, char* /*host*/, sockaddr* client) noexcept {
  forget_message(context);
  Connection* const connection = connection_of(context);
  // The macro {client_addr} would say the same, where the mail server is told to send it.
  if (connection != nullptr) connection->session.begin_connection(ip_address_of(client));
  return SMFIS_NOREPLY;
}

sfsistat on_helo(SMFICTX* context, char* name) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_NOREPLY;
  const auto greet = [=]() -> sfsistat {
    connection->session.greet(name == nullptr ? "" : name);
    return SMFIS_NOREPLY;
  };
  // greet() has noted that it failed.
  return guarded("at the greeting", greet, [] { return SMFIS_NOREPLY; });
}

sfsistat on_mail(SMFICTX* context, char** arguments) noexcept {
  forget_message(context);
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_NOREPLY;
  const auto begin = [=]() -> sfsistat {
    connection->in_message = true;
    shared->in_progress->begin();
    if (arguments == nullptr || arguments[0] == nullptr) return SMFIS_NOREPLY;
    connection->session.begin_message(arguments[0], {macro(context, "{auth_authen}"), macro(context, "{daemon_name}")});
    return SMFIS_NOREPLY;
  };
  // begin_message() has noted that it failed.
  return guarded("at MAIL", begin, [] { return SMFIS_NOREPLY; });
}

sfsistat on_header(SMFICTX* context, char* name, char* value) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr || name == nullptr) return SMFIS_NOREPLY;
  const auto add = [=]() -> sfsistat {
    connection->session.add_header(name, value == nullptr ? "" : value);
    return SMFIS_NOREPLY;
  };
  // add_header() has noted that it failed.
  return guarded("at a header field", add, [] { return SMFIS_NOREPLY; });
}

sfsistat on_end_of_message(SMFICTX* context) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) {
    shared->log->error("out of memory: a message was not decided");
    forget_message(context);
    return shared->mode == Mode::observe ? SMFIS_CONTINUE : SMFIS_TEMPFAIL;
  }
  Session& session = connection->session;
  const auto conclude = [&]() -> sfsistat {
    const Decision decision = shared->gate->conclude(session, {macro(context, "i"), macro(context, "j")});
    if (!decision.is_marked) return mark(context, session, nullptr);
    return mark(context, session, header_value(decision, host_of(context)).c_str());
  };
  // Nothing can be thrown once an edit has begun, so the edits are all still to be made here.
  const auto conclude_without_memory = [&] { return mark(context, session, kFallbackHeaderValue.data()); };
  const sfsistat answer = guarded("at the end of a message", conclude, conclude_without_memory);
  forget_message(context);
  return answer;
}

sfsistat on_abort(SMFICTX* context) noexcept {
  forget_message(context);
  return SMFIS_CONTINUE;
}

sfsistat on_close(SMFICTX* context) noexcept {
  forget_message(context);
  delete static_cast<Connection*>(smfi_getpriv(context));
  smfi_setpriv(context, nullptr);
  return SMFIS_CONTINUE;
}

}  // namespace

void set_callback_context(const CallbackContext* context) noexcept {
  shared = context;
}

smfiDesc callback_description() noexcept {
  smfiDesc description = {};
  description.xxfi_name = unconst("bloomgate-milter");
  description.xxfi_version = SMFI_VERSION;
  description.xxfi_negotiate = on_negotiate;  // asks for the actions
  description.xxfi_connect = on_connect;
  description.xxfi_helo = on_helo;
  description.xxfi_envfrom = on_mail;
  description.xxfi_header = on_header;
  description.xxfi_eom = on_end_of_message;
  description.xxfi_abort = on_abort;
  description.xxfi_close = on_close;
  return description;
}

}  // namespace bloomgate
