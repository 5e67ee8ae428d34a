#include "milter/fields/field_name.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate {

bool is_header(std::string_view name, std::string_view wanted) noexcept {
  if (name.size() < wanted.size() || !ascii::equal_ignoring_case(name.substr(0, wanted.size()), wanted)) return false;
  return name.find_first_not_of(" \t", wanted.size()) == std::string_view::npos;
}

bool is_our_header(std::string_view name) noexcept {
  return is_header(name, kHeaderName);
}

}  // namespace bloomgate
