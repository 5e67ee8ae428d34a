#include "filter/cli/commands/report_text.hpp"

#include <iostream>

#include "filter/base/json.hpp"
#include "filter/cli/numbers.hpp"

namespace bloomgate::cli {

std::string pairs_text(const PairsHeld& pairs) {
  if (pairs.in_bits == 0) return "only with a domain, kept exactly";
  return "up to " + format_count(pairs.in_bits) + " in the bits" +
         (pairs.with_domains ? ", and others with a domain, kept exactly" : "");
}

Json pairs_json(const PairsHeld& pairs) {
  return {{"in_bits", pairs.in_bits}, {"with_domains", pairs.with_domains}};
}

std::string entries_text(const FilterHeader& header) {
  std::string text = "entries   " + format_count(entries_of(header));
  if (header.domains != 0) text += "\ndomains   " + format_count(header.domains) + " of them, kept exactly";
  if (header.pairs.any()) text += "\npairs     " + pairs_text(header.pairs);
  return text;
}

void print_report(const Json& json) {
  std::cout << json.dump(2) << '\n';
}

}  // namespace bloomgate::cli
