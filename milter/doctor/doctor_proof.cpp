// What --doctor says of options that decide what proves a sender: of those that open more than their defaults, and of
// defaults that a configuration may never have chosen. These have become stricter, so an older file may rely on what
// they no longer let in. Such a finding goes once the option stands in the file.
#include <string>
#include <string_view>

#include "milter/doctor/doctor.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;
using Identity = DaemonOptions::Identity;

bool reads_results(const DaemonOptions& options) noexcept {
  return !options.trusted_authserv_ids.empty() || options.verify_dkim == DaemonOptions::VerifyDkim::no;
}

std::string keeping(std::string_view line, const std::string& file, std::string_view other) {
  return std::string("write '").append(line).append("' into ").append(file).append(" to keep that; ").append(other);
}

}  // namespace

void examine_proof(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  const DaemonOptions& options = command.options;
  const auto warn = [&](std::string text, std::string remedy) {
    findings.push_back({Level::warning, "proof", std::move(text), std::move(remedy)});
  };
  if (options.authentication == DaemonOptions::Authentication::off) return;
  if (options.alignment == DaemonOptions::Alignment::relaxed) {
    warn(
        "alignment = relaxed: a domain below a listed one, or beside it, signs for it, unless a DMARC record forbids "
        "it (adkim=s) or ends the organisation between them (psd=n, psd=y)",
        "leave the option out, so that only the domain itself and those above it sign for it");
  }
  // Under `preferred` a sender counts without a proof, too.
  if (options.authentication != DaemonOptions::Authentication::required) return;
  const bool reads = reads_results(options);
  if (reads && !command.given.contains("alignment")) {
    warn(
        "alignment is not set, so a trusted dmarc=pass counts only with the dkim=pass or spf=pass of a domain that may "
        "speak for the sender's",
        keeping("alignment = parent", command.config_path,
                "'alignment = relaxed' lets dmarc=pass count alone, and domains below listed ones sign for them"));
  }
  if (command.given.contains("spf-proves")) return;
  const std::string_view addresses =
      "'spf-proves = address' lets SPF prove addresses, which is safe only where the host of each binds its users to "
      "them";
  if (reads) {
    warn(
        "spf-proves is not set, so SPF proves senders that are listed by their domain, and none that is listed as an "
        "address",
        keeping("spf-proves = domain", command.config_path, addresses));
  } else if (options.identity == Identity::envelope || options.identity == Identity::both) {
    warn(
        "spf-proves is not set, so an envelope sender that is listed as an address counts only if From is the same "
        "mailbox",
        keeping("spf-proves = domain", command.config_path, addresses));
  }
}

}  // namespace bloomgate
