#include "milter/session.hpp"

#include "milter/policy/header_field.hpp"

namespace bloomgate {

void Session::begin_message(std::string_view envelope_sender) {
  reset();
  failed_ = true;  // until the line below has not thrown
  envelope_sender_ = envelope_sender;
  has_sender_ = true;
  failed_ = false;
}

void Session::add_header(std::string_view name) noexcept {
  if (is_our_header(name)) ++forged_headers_;
}

void Session::reset() noexcept {
  envelope_sender_.clear();
  has_sender_ = false;
  failed_ = false;
  forged_headers_ = 0;
}

Facts Session::facts() const noexcept {
  Facts facts;
  if (has_sender_) facts.envelope_sender = envelope_sender_;
  return facts;
}

}  // namespace bloomgate
