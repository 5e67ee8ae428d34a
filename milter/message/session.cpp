#include "milter/message/session.hpp"

#include <algorithm>

#include "milter/policy/header_field.hpp"

namespace bloomgate {

void Session::begin_connection(const std::optional<IpAddress>& client) noexcept {
  reset();
  client_ = client;
  helo_.clear();
  knows_helo_ = true;
}

void Session::greet(std::string_view name) {
  knows_helo_ = false;  // until the line below has not thrown
  helo_ = name;
  knows_helo_ = true;
}

void Session::begin_message(std::string_view envelope_sender, const ClientFacts& client) {
  reset();
  failed_ = true;  // until the lines below have not thrown
  envelope_sender_ = envelope_sender;
  login_ = client.login;
  daemon_name_ = client.daemon_name;
  has_sender_ = true;
  grounds_.begin(helo_, envelope_sender);
  failed_ = !knows_helo_;
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
  if (is_header(name, "DKIM-Signature")) grounds_.add_signature(value);
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
  grounds_.clear();
  failed_ = false;
  forged_headers_ = 0;
}

Facts Session::facts(std::span<const std::string> trusted_ids, std::size_t trusted_fields) {
  Facts facts;
  std::span<const std::string_view> results = authentication_results_.views();
  if (trusted_fields != 0) results = results.first(std::min(trusted_fields, results.size()));
  if (has_sender_) facts.envelope_sender = envelope_sender_;
  facts.header_from = parse_header_from(from_fields_.views());
  facts.authentication = Authentication::summarize(results, trusted_ids, grounds_, facts.header_from);
  facts.origin = {.client = client_, .daemon_name = daemon_name_, .logged_in = !login_.empty()};
  return facts;
}

}  // namespace bloomgate
