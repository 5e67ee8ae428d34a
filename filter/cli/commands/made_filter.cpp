#include "filter/cli/commands/made_filter.hpp"

#include "filter/base/number_text.hpp"
#include "filter/cli/commands/message_rates.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {

Json made_filter_json(const std::string& path, const FilterHeader& header) {
  Json json = {
      {"file", path},
      {"entries", entries_of(header)},
      {"addresses", header.addresses},
      {"domain_entries", header.domains},
      {"pairs", pairs_json(header.kinds)},
      {"signers", header.kinds.signers},
      {"file_bytes", file_bytes(header)},
      {"seed", format_seed(header.shape.seed)},
      {"fpr", expected_fpr_of(header)},
      {"fpr_either", either_fpr(fpr_of_sender(header))},
      {"fpr_both", fpr_of_sender(header)},
  };
  add_sender_domains(json, header);
  return json;
}

}  // namespace bloomgate::cli
