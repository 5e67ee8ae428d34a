#include "filter/address/pair.hpp"

namespace bloomgate {

std::string entry_text(std::string_view key) {
  if (!is_pair_key(key)) return std::string(key);
  const PairSides sides = sides_of_pair(key);
  return std::string(sides.sender).append(" > ").append(sides.recipient);
}

}  // namespace bloomgate
