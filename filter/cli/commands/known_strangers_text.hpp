// What became of the known strangers of a build (`--not`): the same words in the reports of `bloomgate build`, `update`
// and `info`.
#pragma once

#include <string>

#include "filter/base/json.hpp"
#include "filter/file/file_format.hpp"
#include "filter/inputs/stranger_lists.hpp"

namespace bloomgate::cli {

// What build and update say of the lists of --not; nothing where there are none. The line before is not ended yet.
void print_strangers(const FilterHeader& header, const StrangerReview& review);

// "10,000,000; 216,412 hit the bits: 216,410 excluded, 2 entries; 5 listed by their domains".
std::string known_strangers_text(const FilterHeader& header);

// The same numbers: known, hits, excluded, entries, by_domain.
Json known_strangers_json(const FilterHeader& header);

}  // namespace bloomgate::cli
