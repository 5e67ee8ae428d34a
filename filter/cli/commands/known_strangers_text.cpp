#include "filter/cli/commands/known_strangers_text.hpp"

#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"

namespace bloomgate::cli {
namespace {

// The bits of an entry are all set.
std::uint64_t hits_of(const FilterHeader& header) noexcept {
  return header.excluded + header.strangers.entries;
}

}  // namespace

void print_strangers(const FilterHeader& header, const StrangerReview& review) {
  if (header.strangers.known != 0) std::cout << "\nstrangers " << known_strangers_text(header);
  if (review.rejected != 0) {
    std::cout << "\nno entry  " << format_count(review.rejected) << " lines of the lists of --not";
  }
}

std::string known_strangers_text(const FilterHeader& header) {
  std::string text = format_count(header.strangers.known) + "; " + format_count(hits_of(header)) +
                     " hit the bits: " + format_count(header.excluded) + " excluded, " +
                     format_count(header.strangers.entries) + " entries";
  if (header.strangers.by_domain != 0)
    text += "; " + format_count(header.strangers.by_domain) + " listed by their domains";
  return text;
}

Json known_strangers_json(const FilterHeader& header) {
  return {{"known", header.strangers.known},
          {"hits", hits_of(header)},
          {"excluded", header.excluded},
          {"entries", header.strangers.entries},
          {"by_domain", header.strangers.by_domain}};
}

}  // namespace bloomgate::cli
