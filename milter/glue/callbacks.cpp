#include "milter/glue/callbacks.hpp"

#include <libmilter/mfapi.h>
#include <sys/socket.h>

#include <string_view>
#include <variant>

#include "config/ip_network.hpp"
#include "milter/glue/libmilter_context.hpp"
#include "milter/glue/message_edits.hpp"
#include "milter/glue/negotiation.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

const PartsSlot* shared = nullptr;

Connection* connection_of(SMFICTX* context) noexcept {
  return connection_of(context, *shared);
}

std::string_view view_of(const char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Sendmail does not accept a list for the end of a message, so j is also requested with the connection.
void choose_macros(SMFICTX* context) noexcept {
  smfi_setsymlist(context, SMFIM_CONNECT, unconst("j {daemon_name}"));
  smfi_setsymlist(context, SMFIM_ENVFROM, unconst("i {auth_authen}"));
  smfi_setsymlist(context, SMFIM_EOM, unconst("i j"));
}

sfsistat on_negotiate(SMFICTX* context, unsigned long actions, unsigned long steps, unsigned long /*unused*/,
                      unsigned long /*unused*/, unsigned long* asked_actions, unsigned long* asked_steps,
                      unsigned long* asked_unused_0, unsigned long* asked_unused_1) noexcept {
  try {
    close_connection(context);  // its parts may have changed
    Connection* const connection = connection_of(context);
    if (connection == nullptr) throw std::bad_alloc();  // its messages would be misread
    // The mail server sees the connection end, as if the daemon were down. libmilter does not log a line for it.
    if (!connection->place().is_within_limit()) return connection->place().hang_up() ? SMFIS_CONTINUE : SMFIS_REJECT;
    const ConnectionParts& parts = connection->parts();
    const DeepCheck* const deep = parts.deep_check.get();
    const MilterUse use = {.mode = parts.mode,
                           .deep_check = deep != nullptr,
                           .recipients = parts.judge->wants_recipients(),
                           .verify = parts.verifier != nullptr,
                           .learn = parts.judge->is_learning(),
                           .quarantine = deep != nullptr && may_quarantine(deep->options())};
    const MilterRequest request = milter_request({actions, steps}, use);
    if (!request.missing.empty()) {
      parts.log->error("a mail server was refused: it does not offer what is needed: {}", request.missing);
      return SMFIS_REJECT;
    }
    *asked_actions = request.actions;
    *asked_steps = request.steps;
    *asked_unused_0 = 0;
    *asked_unused_1 = 0;
    if (request.choose_macros) choose_macros(context);
    connection->set_conversation(request);
    return SMFIS_CONTINUE;
  } catch (...) {
    log_exception(*shared->get()->log, "while a mail server connected");
    return SMFIS_REJECT;
  }
}

sfsistat on_connect(SMFICTX* context, char* host, sockaddr* client) noexcept {
  forget_message(context);
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_NOREPLY;
  // A session that follows another one on its socket (SMFIC_QUIT_NC) comes without a negotiation.
  if (!connection->place().is_within_limit() && connection->place().hang_up()) return SMFIS_NOREPLY;
  // The macro {client_addr} would say the same if the mail server were told to send it.
  connection->message().begin_connection(ip_address_of(client), view_of(host));
  return SMFIS_NOREPLY;
}

sfsistat on_helo(SMFICTX* context, char* name) noexcept {
  Connection* const connection = connection_of(context);
  if (connection != nullptr) connection->message().greet(view_of(name));
  return SMFIS_NOREPLY;
}

sfsistat on_mail(SMFICTX* context, char** arguments) noexcept {
  forget_message(context);
  Connection* const connection = connection_of(context);
  if (connection == nullptr || arguments == nullptr || arguments[0] == nullptr) return SMFIS_NOREPLY;
  connection->begin_message(arguments[0], {macro(context, "{auth_authen}"), macro(context, "{daemon_name}")});
  return SMFIS_NOREPLY;
}

// A mail server that cannot skip these steps was not asked to continue without a reply to them.
bool wants_recipients(const Connection* connection) noexcept {
  return connection != nullptr ? connection->conversation().tells_recipients : shared->get()->want_recipients();
}

bool wants_body(const Connection* connection) noexcept {
  return connection != nullptr ? connection->conversation().tells_body : shared->get()->want_body();
}

sfsistat on_recipient(SMFICTX* context, char** arguments) noexcept {
  Connection* const connection = connection_of(context);
  if (!wants_recipients(connection)) return SMFIS_CONTINUE;
  if (connection != nullptr && arguments != nullptr) connection->message().add_recipient(view_of(arguments[0]));
  return SMFIS_NOREPLY;
}

sfsistat on_header(SMFICTX* context, char* name, char* value) noexcept {
  Connection* const connection = connection_of(context);
  if (connection != nullptr && name != nullptr) connection->message().add_header(name, view_of(value));
  return SMFIS_NOREPLY;
}

sfsistat on_end_of_header(SMFICTX* context) noexcept {
  Connection* const connection = connection_of(context);
  if (!wants_body(connection)) return SMFIS_CONTINUE;
  if (connection == nullptr) return SMFIS_NOREPLY;
  connection->place().begin_work();
  connection->end_of_header(macro(context, "j"));
  connection->place().heard();
  return SMFIS_NOREPLY;
}

sfsistat on_body(SMFICTX* context, unsigned char* bytes, std::size_t size) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr || !wants_body(connection)) return SMFIS_CONTINUE;
  const bool more = connection->add_body({reinterpret_cast<const char*>(bytes), size});
  return more || !connection->conversation().may_skip_body ? SMFIS_CONTINUE : SMFIS_SKIP;
}

// If the edits fail, the sender's mail server should try again later: the message must neither be lost nor be accepted
// with a forged field.
sfsistat say(SMFICTX* context, const Answer& answer) noexcept {
  if (const auto* const refusal = std::get_if<Refusal>(&answer)) return refuse(context, *refusal);
  if (carry_out(context, *std::get_if<Edits>(&answer))) return SMFIS_CONTINUE;
  log_error(*shared->get()->log,
            "the headers of a message could not be edited; it is refused for now (a temporary failure)");
  return SMFIS_TEMPFAIL;
}

sfsistat on_end_of_message(SMFICTX* context) noexcept {
  Connection* const connection = connection_of(context);
  sfsistat answer = shared->get()->mode == Mode::observe ? SMFIS_CONTINUE : SMFIS_TEMPFAIL;
  if (connection != nullptr) {
    connection->place().begin_work();
    answer = say(context, connection->end_of_message({macro(context, "i"), macro(context, "j")}));
    connection->place().heard();
  } else {
    log_error(*shared->get()->log, "out of memory: a message was not decided");
  }
  forget_message(context);
  return answer;
}

sfsistat on_abort(SMFICTX* context) noexcept {
  forget_message(context);
  return SMFIS_CONTINUE;
}

sfsistat on_close(SMFICTX* context) noexcept {
  close_connection(context);
  return SMFIS_CONTINUE;
}

}  // namespace

void set_connection_parts(const PartsSlot* parts) noexcept {
  shared = parts;
}

smfiDesc callback_description() noexcept {
  smfiDesc description = {};
  description.xxfi_name = unconst("bloomgate-milter");
  description.xxfi_version = SMFI_VERSION;
  description.xxfi_negotiate = on_negotiate;  // requests the actions
  description.xxfi_connect = on_connect;
  description.xxfi_helo = on_helo;
  description.xxfi_envfrom = on_mail;
  description.xxfi_header = on_header;
  // These three are called only if the mail server was asked for these steps: see negotiation.hpp.
  description.xxfi_envrcpt = on_recipient;
  description.xxfi_eoh = on_end_of_header;
  description.xxfi_body = on_body;
  description.xxfi_eom = on_end_of_message;
  description.xxfi_abort = on_abort;
  description.xxfi_close = on_close;
  return description;
}

}  // namespace bloomgate
