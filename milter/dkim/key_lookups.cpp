#include "milter/dkim/key_lookups.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "milter/dkim/key_record.hpp"
#include "milter/dkim/library_outcome.hpp"

namespace bloomgate {
namespace {

std::string key_name(const Signature& signature) {
  return signature.selector + "._domainkey." + signature.domain;
}

// As the library asks for it: in the letters of the signature.
std::string key_name_of(const SignatureCandidate& candidate) {
  return *candidate.tags["s"] + "._domainkey." + *candidate.tags["d"];
}

}  // namespace

KeyLookups::KeyLookups(Resolver& resolver, const std::vector<SignatureCandidate>& candidates) : resolver_(resolver) {
  for (const SignatureCandidate& each : candidates) {
    lookups_.push_back(each.is_worth_verifying ? resolver.start(key_name(each.signature)) : nullptr);
  }
}

std::optional<FoundKey> KeyLookups::find(SignatureCandidate& candidate, std::size_t index,
                                         Resolver::Clock::time_point deadline) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Signature& signature = candidate.signature;
  const Resolver::Clock::time_point start = Resolver::Clock::now();
  const TxtRecord record = resolver_.wait(*lookups_[index], deadline);
  signature.key_milliseconds = Milliseconds(Resolver::Clock::now() - start).count();
  resolver_.report_key(*lookups_[index], record.status);
  signature.has_secure_key = record.is_secure;
  ReadKey key = {.outcome = outcome_of(record.status), .record = {}};
  if (record.status == TxtStatus::found) key = read_key_record(record.text, *candidate.tags["a"]);
  if (key.outcome == SignatureOutcome::pass) return FoundKey{key_name_of(candidate), std::move(key.record)};
  signature.outcome = key.outcome;
  return std::nullopt;
}

}  // namespace bloomgate
