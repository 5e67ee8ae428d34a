#include "filter/cli/commands/report_text.hpp"

#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/jobs/loss_limits.hpp"

namespace bloomgate::cli {

std::string pairs_text(const KindsHeld& kinds) {
  if (kinds.pairs_in_bits == 0) return "only with a domain, kept exactly";
  return "up to " + format_count(kinds.pairs_in_bits) + " in the bits" +
         (kinds.domain_pairs ? ", and others with a domain, kept exactly" : "");
}

Json pairs_json(const KindsHeld& kinds) {
  return {{"in_bits", kinds.pairs_in_bits}, {"with_domains", kinds.domain_pairs}};
}

std::string entries_text(const FilterHeader& header) {
  std::string text = "entries   " + format_count(entries_of(header));
  if (header.domains != 0) text += "\ndomains   " + format_count(header.domains) + " of them, kept exactly";
  if (header.kinds.any_pairs()) text += "\npairs     " + pairs_text(header.kinds);
  if (header.kinds.signers) text += "\nsigners   there are entries with signed-by, kept exactly";
  if (header.sender_domains) text += "\nsenders   " + sender_domains_text(header);
  return text;
}

std::string sender_domains_text(const FilterHeader& header) {
  if (!header.sender_domains) {
    return header.addresses == 0 ? "none" : "none: at any domain an address may be found by chance";
  }
  return "at " + format_count(*header.sender_domains) + (*header.sender_domains == 1 ? " domain, " : " domains, ") +
         format_bytes(DomainCoding(*header.sender_domains).section_bytes()) +
         "; at any other domain no address is found by chance";
}

void warn_of_lost_sender_domains(const FilterHeader& combined,
                                 const std::vector<std::unique_ptr<MappedFilter>>& filters) {
  if (const std::string lost = lost_sender_domains(combined, filters); !lost.empty()) std::cerr << lost << '\n';
}

void add_sender_domains(Json& json, const FilterHeader& header) {
  json["sender_domains"] = header.sender_domains ? Json(*header.sender_domains) : Json(nullptr);
  json["sender_domains_bytes"] =
      header.sender_domains ? Json(DomainCoding(*header.sender_domains).section_bytes()) : Json(nullptr);
  json["fpr_other_domain"] = fpr_at_other_domain(header);
}

void print_report(const Json& json) {
  std::cout << json.dump(2) << '\n';
}

}  // namespace bloomgate::cli
