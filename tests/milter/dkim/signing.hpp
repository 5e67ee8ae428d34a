// Signs messages with libopendkim, as a sender's mail server does.
#pragma once

#include <string>
#include <vector>

namespace bloomgate::test {

struct SignedMessage {
  std::vector<std::string> header;  // the signature first
  std::string body;
};

// With the selector s1 of the domain, whose record is key_record(); relaxed/relaxed.
SignedMessage sign(const std::vector<std::string>& header, const std::string& body,
                   const std::string& domain = "example.org");

// As libunbound takes records of its own.
std::string key_record(const std::string& domain);
extern const char* const kKeyRecord;  // that of example.org

}  // namespace bloomgate::test
