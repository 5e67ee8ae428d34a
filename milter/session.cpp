#include "milter/session.hpp"

#include "milter/policy/header_field.hpp"

namespace bloomgate {

void Session::begin_connection(const std::optional<IpAddress>& client) noexcept {
  reset();
  client_ = client;
}

void Session::begin_message(std::string_view envelope_sender, const ClientFacts& client) {
  reset();
  failed_ = true;  // until the lines below have not thrown
  envelope_sender_ = envelope_sender;
  login_ = client.login;
  daemon_name_ = client.daemon_name;
  has_sender_ = true;
  failed_ = false;
}

void Session::add_header(std::string_view name, std::string_view value) {
  if (is_our_header(name)) {
    ++forged_headers_;
    return;
  }
  const bool had_failed = failed_;
  failed_ = true;  // until the line below has not thrown
  failed_ = !keep(name, value) || had_failed;
}

bool Session::keep(std::string_view name, std::string_view value) {
  if (is_header(name, "Authentication-Results")) return authentication_results_.add(value);
  // That there were more than are kept is plain from those that are.
  if (is_header(name, "From")) from_fields_.add(value);
  return true;
}

void Session::reset() noexcept {
  login_.clear();
  daemon_name_.clear();
  envelope_sender_.clear();
  has_sender_ = false;
  from_fields_.clear();
  authentication_results_.clear();
  failed_ = false;
  forged_headers_ = 0;
}

Facts Session::facts() const noexcept {
  Facts facts;
  if (has_sender_) facts.envelope_sender = envelope_sender_;
  return facts;
}

}  // namespace bloomgate
