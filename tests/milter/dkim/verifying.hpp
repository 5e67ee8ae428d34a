// A message, and what a verifier says of it, in the word that the log has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/verifier.hpp"
#include "milter/names/resolver.hpp"
#include "tests/milter/dkim/signing.hpp"

namespace bloomgate::test {

inline const std::vector<std::string> kHeader = {"From: joe@example.org", "To: ann@example.net", "Subject: test"};
inline const std::string kBody = "Hello.\r\n";

// Names that are not among the records are asked of a port at which nothing answers: their look-up fails.
inline ResolverOptions records(const std::vector<std::string>& own = {kKeyRecord}) {
  ResolverOptions options = {.servers = {"127.0.0.1@9"}};
  options.records = own;
  return options;
}

inline std::unique_ptr<Verification> begun(Verifier& verifier, const std::vector<std::string>& fields) {
  const std::vector<std::string_view> header(fields.begin(), fields.end());
  VerifyRequest request = {.header = header};
  request.need.domains[0].append("example.org");
  return verifier.begin(request);
}

inline Signatures verified(Verifier& verifier, const std::vector<std::string>& fields, const std::string& body) {
  const auto verification = begun(verifier, fields);
  for (std::size_t at = 0; at < body.size(); at += 10'000) verification->add_body(body.substr(at, 10'000));
  return verification->finish();
}

inline std::string outcome_of(const Signatures& signatures) {
  return std::string(signature_outcome_name(signatures.outcome_for("example.org", Alignment::relaxed)));
}

inline std::string outcome(Verifier& verifier, const std::vector<std::string>& fields, const std::string& body) {
  return outcome_of(verified(verifier, fields, body));
}

}  // namespace bloomgate::test
