// Leaves out messages written before their user or their contact was forgotten. For one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "filter/contacts/forgotten_people.hpp"
#include "filter/contacts/harvest_rules.hpp"

namespace bloomgate {

class ForgottenContacts : public ContactSink {
 public:
  // Both are the caller's, who keeps them.
  ForgottenContacts(const ForgottenPeople& people, ContactSink& sink) : people_(people), sink_(sink) {}

  void add(std::string_view contact, std::string_view user, const MessageMark& message) override {
    if (people_.have(contact, message.day) || people_.have(user, message.day)) {
      ++left_out_;
    } else {
      sink_.add(contact, user, message);
    }
  }
  void lift_limit(std::string_view user) override { sink_.lift_limit(user); }

  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  const ForgottenPeople& people_;
  ContactSink& sink_;
  std::uint64_t left_out_ = 0;
};

}  // namespace bloomgate
