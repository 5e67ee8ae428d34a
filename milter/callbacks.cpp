#include "milter/callbacks.hpp"

#include <libmilter/mfapi.h>
#include <sys/socket.h>

#include <exception>
#include <string_view>

#include "config/ip_network.hpp"
#include "filter/base/printable.hpp"
#include "milter/connection.hpp"
#include "milter/message_edits.hpp"
#include "milter/negotiation.hpp"
#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

const CallbackContext* shared = nullptr;

// libmilter takes its strings as pointers to non-const, and changes none of them.
char* unconst(const char* text) noexcept {
  return const_cast<char*>(text);
}

std::string_view view_of(const char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::string_view macro(SMFICTX* context, const char* name) noexcept {
  return view_of(smfi_getsymval(context, unconst(name)));
}

const DeepCheckOptions* deep_options() noexcept {
  return shared->deep == nullptr ? nullptr : &shared->deep->options();
}

Connection* connection_of(SMFICTX* context) noexcept {
  return connection_of(context, deep_options());
}

void forget_message(SMFICTX* context) noexcept {
  forget_message(context, *shared->in_progress);
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

std::string_view host_of(SMFICTX* context) noexcept {
  if (!shared->host_name.empty()) return shared->host_name;
  const std::string_view told = macro(context, "j");
  return is_host_name(told) ? told : std::string_view(shared->fallback_host);
}

// Where the edits fail, the sender's mail server is to try again later: the message must neither be lost nor go on with
// a forged field on it.
sfsistat edit(SMFICTX* context, const Connection& connection, MessageEdits edits) noexcept {
  if (shared->mode == Mode::observe) return SMFIS_CONTINUE;
  edits.forged_marks = connection.session.forged_headers();
  if (carry_out(context, edits)) return SMFIS_CONTINUE;
  shared->log->error("the headers of a message could not be edited; it is refused for now (a temporary failure)");
  return SMFIS_TEMPFAIL;
}

// The decision, which is made when it is first asked for.
const Judgement& judgement_of(SMFICTX* context, Connection& connection) {
  if (!connection.judgement) connection.judgement = shared->gate->judge(connection.session, macro(context, "j"));
  return *connection.judgement;
}

// From here on the message's header is complete: whether the checker is to get its body is known.
void end_header(SMFICTX* context, Connection& connection) {
  const Decision& decision = judgement_of(context, connection).decision;
  if (connection.checked) connection.checked->end_header(DeepStage::is_for(decision));
}

// What the deeper check has to say, where it is asked.
DeepOutcome deep_outcome(const Connection& connection, const EndOfMessage& end) {
  if (!connection.checked) return {};
  const Decision& decision = connection.judgement->decision;
  const SpamFields& forged = connection.checked->spam_fields();
  if (!is_exempt(decision.reason) && forged.too_many()) {
    shared->log->warn("a message has more than {} names of fields that begin with X-Spam", forged.names().size());
    return {.action = SpamAction::tempfail, .reply = "Too many X-Spam fields"};
  }
  return DeepStage::is_for(decision) ? shared->deep->check(*connection.checked, end) : DeepOutcome();
}

sfsistat conclude(SMFICTX* context, Connection& connection) {
  end_header(context, connection);
  const Judgement& judgement = *connection.judgement;
  const Decision& decision = judgement.decision;
  const EndOfMessage end = {macro(context, "i"), macro(context, "j")};
  const DeepOutcome outcome = deep_outcome(connection, end);
  shared->gate->log_message(connection.session, judgement, end.queue_id, outcome.log);
  if (is_refusal(outcome.action)) return refuse(context, outcome.action, outcome.reply);

  const std::string mark = decision.is_marked ? header_value(decision, host_of(context)) : std::string();
  MessageEdits edits;
  if (decision.is_marked) edits.mark = mark.c_str();
  if (connection.checked && !is_exempt(decision.reason)) {
    edits.spam_fields = connection.checked->spam_fields().names();
  }
  edits.results = outcome.fields;
  if (outcome.action == SpamAction::quarantine) edits.quarantine_reason = outcome.quarantine_reason.c_str();
  return edit(context, connection, edits);
}

// Nothing is thrown here. The message is not checked, so a deeper check has failed for it.
sfsistat conclude_without_memory(SMFICTX* context, const Connection& connection) noexcept {
  MessageEdits edits;
  edits.mark = kFallbackHeaderValue.data();
  if (connection.checked) {
    const bool goes_on = shared->deep->options().on_failure == CheckFailureAction::tag;
    if (!goes_on || connection.checked->spam_fields().too_many()) return SMFIS_TEMPFAIL;
    edits.spam_fields = connection.checked->spam_fields().names();
    edits.results = shared->deep->fallback_fields();
  }
  return edit(context, connection, edits);
}

sfsistat on_negotiate(SMFICTX* context, unsigned long actions, unsigned long steps, unsigned long /*unused*/,
                      unsigned long /*unused*/, unsigned long* asked_actions, unsigned long* asked_steps,
                      unsigned long* asked_unused_0, unsigned long* asked_unused_1) noexcept {
  const auto negotiate = [=]() -> sfsistat {
    const DeepCheckOptions* const deep = deep_options();
    const MilterUse use = {shared->mode, deep != nullptr, deep != nullptr && may_quarantine(*deep)};
    const MilterRequest request = milter_request({actions, steps}, use);
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
    Connection* const connection = request.may_skip_body ? connection_of(context) : nullptr;
    if (connection != nullptr) connection->may_skip_body = true;
    return SMFIS_CONTINUE;
  };
  return guarded("while a mail server connected", negotiate, [] { return SMFIS_REJECT; });
}

sfsistat on_connect(SMFICTX* context, char* host, sockaddr* client) noexcept {
  forget_message(context);
  Connection* const connection = connection_of(context);
  // The macro {client_addr} would say the same, where the mail server is told to send it.
  if (connection == nullptr) return SMFIS_NOREPLY;
  connection->session.begin_connection(ip_address_of(client));
  if (connection->checked) connection->checked->begin_connection(ip_address_of(client), view_of(host));
  return SMFIS_NOREPLY;
}

sfsistat on_helo(SMFICTX* context, char* name) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_NOREPLY;
  const auto greet = [=]() -> sfsistat {
    if (connection->checked) connection->checked->greet(view_of(name));
    connection->session.greet(view_of(name));
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
    begin_message(*connection, *shared->in_progress);
    if (arguments == nullptr || arguments[0] == nullptr) return SMFIS_NOREPLY;
    const ClientFacts client = {macro(context, "{auth_authen}"), macro(context, "{daemon_name}")};
    if (connection->checked) connection->checked->begin_message(arguments[0], client.login);
    connection->session.begin_message(arguments[0], client);
    return SMFIS_NOREPLY;
  };
  // begin_message() has noted that it failed.
  return guarded("at MAIL", begin, [] { return SMFIS_NOREPLY; });
}

sfsistat on_recipient(SMFICTX* context, char** arguments) noexcept {
  Connection* const connection = connection_of(context);
  const bool is_wanted = connection != nullptr && connection->checked && arguments != nullptr;
  if (is_wanted) connection->checked->add_recipient(view_of(arguments[0]));
  return SMFIS_NOREPLY;
}

sfsistat on_header(SMFICTX* context, char* name, char* value) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr || name == nullptr) return SMFIS_NOREPLY;
  const auto add = [=]() -> sfsistat {
    connection->judgement.reset();
    if (connection->checked) connection->checked->add_field(name, view_of(value));
    connection->session.add_header(name, view_of(value));
    return SMFIS_NOREPLY;
  };
  // add_header() has noted that it failed.
  return guarded("at a header field", add, [] { return SMFIS_NOREPLY; });
}

sfsistat on_end_of_header(SMFICTX* context) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_NOREPLY;
  const auto end = [=]() -> sfsistat {
    end_header(context, *connection);
    return SMFIS_NOREPLY;
  };
  // It is decided at its end then, and its body is kept until it is.
  const auto keep_body = [=]() -> sfsistat {
    if (connection->checked) connection->checked->end_header(true);
    return SMFIS_NOREPLY;
  };
  return guarded("at the end of a header", end, keep_body);
}

sfsistat on_body(SMFICTX* context, unsigned char* bytes, std::size_t size) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) return SMFIS_CONTINUE;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const bool more = connection->checked && connection->checked->add_body(text);
  return more || !connection->may_skip_body ? SMFIS_CONTINUE : SMFIS_SKIP;
}

sfsistat on_end_of_message(SMFICTX* context) noexcept {
  Connection* const connection = connection_of(context);
  if (connection == nullptr) {
    shared->log->error("out of memory: a message was not decided");
    forget_message(context);
    return shared->mode == Mode::observe ? SMFIS_CONTINUE : SMFIS_TEMPFAIL;
  }
  const auto end = [=] { return conclude(context, *connection); };
  // Nothing can be thrown once an edit has begun, so the edits are all still to be made here.
  const auto end_without_memory = [=] { return conclude_without_memory(context, *connection); };
  const sfsistat answer = guarded("at the end of a message", end, end_without_memory);
  forget_message(context);
  return answer;
}

sfsistat on_abort(SMFICTX* context) noexcept {
  forget_message(context);
  return SMFIS_CONTINUE;
}

sfsistat on_close(SMFICTX* context) noexcept {
  close_connection(context, *shared->in_progress);
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
  if (shared->deep != nullptr) {
    description.xxfi_envrcpt = on_recipient;
    description.xxfi_eoh = on_end_of_header;
    description.xxfi_body = on_body;
  }
  description.xxfi_eom = on_end_of_message;
  description.xxfi_abort = on_abort;
  description.xxfi_close = on_close;
  return description;
}

}  // namespace bloomgate
