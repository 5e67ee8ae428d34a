// Signs messages with libopendkim, as a sender's mail server does.
#pragma once

#include <string>
#include <vector>

namespace bloomgate::test {

struct SignedMessage {
  std::vector<std::string> header;  // the signature first
  std::string body;
};

// With the selector s1 of example.org, whose record is kKeyRecord; relaxed/relaxed.
SignedMessage sign(const std::vector<std::string>& header, const std::string& body);

// As libunbound takes records of its own.
extern const char* const kKeyRecord;

}  // namespace bloomgate::test
