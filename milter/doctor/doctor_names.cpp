// Examines the name servers, if the daemon itself verifies signatures.
#include <chrono>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

// Any answer is enough, whatever it says.
constexpr const char* kSomeName = "_domainkey.example.org";

constexpr std::string_view kConsequence = "; without keys every message of a listed sender is checked";

std::string remedy(std::string_view what) {
  return std::string(what).append(kConsequence);
}

std::string remedy_for(TxtStatus status) {
  if (status == TxtStatus::bogus)
    return remedy("set dns-servers to servers that pass DNSSEC signatures on, or leave dns-trust-anchor empty");
  return remedy("name working servers in dns-servers or /etc/resolv.conf");
}

// Why no name can be looked up; empty: the look-up worked.
std::string fault_of(TxtStatus status) {
  switch (status) {
    case TxtStatus::timed_out:
    case TxtStatus::not_asked:
      return "no name server answers in time";
    case TxtStatus::server_failed:
      return "the name servers fail";
    case TxtStatus::bogus:
      return "DNSSEC finds the answers forged: the servers may leave out its signatures (dns-trust-anchor)";
    case TxtStatus::found:
    case TxtStatus::not_found:
    case TxtStatus::several:
    case TxtStatus::too_long:
    case TxtStatus::malformed:
      break;
  }
  return {};
}

}  // namespace

void examine_names(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  if (!verifies_signatures(options)) return;
  try {
    Resolver resolver(resolver_options(options));
    const auto lookup = resolver.start(kSomeName);
    const TxtStatus status = resolver.wait(*lookup, Resolver::Clock::now() + options.dns_timeout).status;
    const std::string fault = fault_of(status);
    if (fault.empty()) {
      findings.push_back({Level::ok, "names", "names are looked up; keys are " + resolver.description()});
    } else {
      findings.push_back({Level::problem, "names", fault + "; keys are " + resolver.description(), remedy_for(status)});
    }
  } catch (const BloomgateError& error) {
    findings.push_back({Level::problem, "names", error.what(), remedy("mend that option")});
  }
}

}  // namespace bloomgate
