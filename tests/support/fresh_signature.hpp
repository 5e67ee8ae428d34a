// The value of a DKIM-Signature field as a signer writes one now: it covers From, and its time is the present.
#pragma once

#include <ctime>
#include <string>

namespace bloomgate::test {

inline std::string fresh_signature(const std::string& domain) {
  return "v=1; d=" + domain + "; s=1; h=from; t=" + std::to_string(std::time(nullptr)) + "; b=Zm9v";
}

}  // namespace bloomgate::test
