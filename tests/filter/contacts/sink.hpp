// Keeps the contacts that are found, each as `CONTACT > USER`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"

namespace bloomgate {

using Found = std::vector<std::string>;

// The users of the tests' mail.
inline const std::vector<std::string> kAnn = {"ann@ours.example"};

struct Sink : ContactSink {
  void add(std::string_view contact, std::string_view user, const MessageMark& message) override {
    last = message;
    found.push_back(std::string(contact) + " > " + std::string(user));
  }

  Found found;
  MessageMark last;  // of the last contact
};

}  // namespace bloomgate
