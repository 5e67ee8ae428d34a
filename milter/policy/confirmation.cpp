#include "milter/policy/confirmation.hpp"

namespace bloomgate {

std::string_view confirmation_name(Confirmation confirmation) noexcept {
  switch (confirmation) {
    case Confirmation::yes:
      return "yes";
    case Confirmation::no:
      return "no";
    case Confirmation::timeout:
      return "timeout";
    case Confirmation::busy:
      return "busy";
    case Confirmation::damaged:
      return "damaged";
    case Confirmation::unreadable:
      break;
  }
  return "unreadable";
}

}  // namespace bloomgate
