// Whatever a message's header is: the signatures that are chosen for the verifier are few, of an aligned domain, and
// have names that can be looked up, and no byte of another kind goes into a name.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "milter/dkim/key_reply.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using test::require;

bool is_name(std::string_view text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == text.npos;
}

void examine(const SignatureCandidate& candidate, const std::vector<std::string_view>& header) {
  const Signature& signature = candidate.signature;
  require(candidate.field < header.size() && is_field(header[candidate.field], "dkim-signature"));
  require(aligned(signature.domain, "example.org", Alignment::relaxed));
  require(is_name(signature.domain) && is_name(signature.selector));
  require(signature.outcome != SignatureOutcome::pass);
  if (!candidate.is_worth_verifying) return;
  const std::string name = signature.selector + "._domainkey." + signature.domain;
  unsigned char out[2048];
  require(name.size() <= 253 && write_key_reply(name, "v=DKIM1; p=x", out) != 0);
}

}  // namespace

// The input is a header: a field on each line, which a space continues.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> header;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n' || (at + 1 < text.size() && text[at + 1] == ' ')) continue;
    header.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  header.push_back(text.substr(begin));
  VerifyRequest request = {.header = header, .need = {}};
  request.need.domains[0].append("example.org");
  const SignatureChoice choice = choose_signatures(request, {.cover = {.require_oversigned = size % 2 == 1}});
  require(choice.candidates.size() <= kMaxVerifiedSignatures);
  for (const SignatureCandidate& candidate : choice.candidates) examine(candidate, header);
  return 0;
}
