#include "tests/milter/glue/fake_libmilter.hpp"

#include <arpa/inet.h>
#include <libmilter/mfdef.h>
#include <netinet/in.h>

#include <stdexcept>
#include <string_view>

#include "milter/glue/callbacks.hpp"
#include "milter/glue/libmilter_input.hpp"
#include "tests/support/memory_budget.hpp"

namespace {

using bloomgate::test::BudgetInForce;

int edit(SMFICTX* context, const std::string& what) {
  if (context->edits_until_failure == 0) {
    if (context->fails_once) context->edits_until_failure = -1;
    return MI_FAILURE;
  }
  if (context->edits_until_failure > 0) --context->edits_until_failure;
  context->edits.push_back(what);
  return MI_SUCCESS;
}

// As libmilter has read it from a connection.
class Step {
 public:
  explicit Step(const SMFICTX& context) { bloomgate::set_socket_of_callback(context.socket); }

 private:
  const BudgetInForce in_force_;
};

// Most tests are about our own field, which goes without saying.
std::string name_before(const std::string& name) {
  return name == "X-Bloomgate" ? "" : name + " ";
}

}  // namespace

extern "C" {

void* smfi_getpriv(SMFICTX* context) {
  return context->private_data;
}

int smfi_setpriv(SMFICTX* context, void* data) {
  context->private_data = data;
  return MI_SUCCESS;
}

char* smfi_getsymval(SMFICTX* context, char* name) {
  const BudgetInForce not_here(false);
  const auto found = context->macros.find(name);
  return found == context->macros.end() ? nullptr : found->second.data();
}

int smfi_setsymlist(SMFICTX* context, int where, char* macros) {
  const BudgetInForce not_here(false);
  context->asked_macros.push_back(std::to_string(where) + " " + macros);
  return MI_SUCCESS;
}

int smfi_chgheader(SMFICTX* context, char* name, int index, char* value) {
  const BudgetInForce not_here(false);
  if (value != nullptr) return MI_FAILURE;
  return edit(context, "delete " + name_before(name) + std::to_string(index));
}

int smfi_insheader(SMFICTX* context, int index, char* name, char* value) {
  const BudgetInForce not_here(false);
  std::string_view seen = value;
  if (context->has_leading_space) {
    if (!seen.starts_with(' ')) return edit(context, "insert without a space: " + std::string(seen));
    seen.remove_prefix(1);
  }
  return edit(context, "insert " + std::to_string(index) + " " + name_before(name) + std::string(seen));
}

int smfi_quarantine(SMFICTX* context, char* reason) {
  const BudgetInForce not_here(false);
  return edit(context, std::string("quarantine ") + reason);
}

int smfi_setreply(SMFICTX* context, char* code, char* extended_code, char* text) {
  const BudgetInForce not_here(false);
  return edit(context, std::string("reply ") + code + " " + extended_code + " " + text);
}

}  // extern "C"

namespace bloomgate::test {

FakeMailServer::FakeMailServer() : callbacks_(callback_description()) {}

FakeMailServer::~FakeMailServer() {
  close();
}

sfsistat FakeMailServer::negotiate() {
  return negotiate(SMFI_CURR_ACTS, SMFI_CURR_PROT);
}

sfsistat FakeMailServer::negotiate(unsigned long actions, unsigned long steps) {
  unsigned long unused_0 = 0;
  unsigned long unused_1 = 0;
  const Step step(context_);
  const sfsistat answer =
      callbacks_.xxfi_negotiate(&context_, actions, steps, 0, 0, &asked_actions_, &asked_steps_, &unused_0, &unused_1);
  context_.has_leading_space = (asked_steps_ & SMFIP_HDR_LEADSPC) != 0;
  return answer;
}

sfsistat FakeMailServer::connect(const char* ip_address) {
  sockaddr_storage client = {};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&client);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&client);
  if (ip_address != nullptr) {
    const bool is_v4 = inet_pton(AF_INET, ip_address, &v4->sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, ip_address, &v6->sin6_addr) != 1) throw std::invalid_argument(ip_address);
    client.ss_family = is_v4 ? AF_INET : AF_INET6;
  }
  std::string host = "client.example";
  const Step step(context_);
  return callbacks_.xxfi_connect(&context_, host.data(),
                                 ip_address == nullptr ? nullptr : reinterpret_cast<sockaddr*>(&client));
}

sfsistat FakeMailServer::helo(std::string name) {
  const Step step(context_);
  return callbacks_.xxfi_helo(&context_, name.data());
}

sfsistat FakeMailServer::mail(std::string path) {
  char* arguments[] = {path.data(), nullptr};
  const Step step(context_);
  return callbacks_.xxfi_envfrom(&context_, arguments);
}

sfsistat FakeMailServer::header(std::string name, std::string value) {
  if (context_.has_leading_space) value.insert(0, " ");
  const Step step(context_);
  return callbacks_.xxfi_header(&context_, name.data(), value.data());
}

sfsistat FakeMailServer::recipient(std::string path) {
  char* arguments[] = {path.data(), nullptr};
  const Step step(context_);
  return callbacks_.xxfi_envrcpt == nullptr ? SMFIS_CONTINUE : callbacks_.xxfi_envrcpt(&context_, arguments);
}

sfsistat FakeMailServer::end_of_header() {
  const Step step(context_);
  return callbacks_.xxfi_eoh == nullptr ? SMFIS_CONTINUE : callbacks_.xxfi_eoh(&context_);
}

sfsistat FakeMailServer::body(std::string bytes) {
  if (callbacks_.xxfi_body == nullptr) return SMFIS_CONTINUE;
  const Step step(context_);
  return callbacks_.xxfi_body(&context_, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
}

sfsistat FakeMailServer::end_of_message(const std::string& queue_id) {
  context_.edits.clear();
  context_.macros["i"] = queue_id;
  const Step step(context_);
  return callbacks_.xxfi_eom(&context_);
}

sfsistat FakeMailServer::abort() {
  const Step step(context_);
  return callbacks_.xxfi_abort(&context_);
}

sfsistat FakeMailServer::close() {
  context_.has_leading_space = false;  // the next connection has agreed to nothing yet
  const Step step(context_);
  return callbacks_.xxfi_close(&context_);
}

}  // namespace bloomgate::test
