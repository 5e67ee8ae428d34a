#include "filter/base/usage_error.hpp"

#include <utility>

namespace bloomgate {
namespace {

ChoiceNames& names_in_use() noexcept {
  static ChoiceNames names;
  return names;
}

}  // namespace

const ChoiceNames& choice_names() noexcept {
  return names_in_use();
}

void set_choice_names(ChoiceNames names) {
  names_in_use() = std::move(names);
}

}  // namespace bloomgate
