#include "config/config_error.hpp"

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

std::string sentence(const ConfigPlace& place, const std::string& option, const std::string& fault) {
  std::string text;
  if (place.path.empty()) {
    text = "command line: ";
    if (!option.empty()) text += "--" + printable(option) + ": ";
  } else {
    text = printable(place.path) + ":";
    if (place.line != 0) text += std::to_string(place.line) + ":";
    text += " ";
    if (!option.empty()) text += printable(option) + ": ";
  }
  return text + fault;
}

}  // namespace

BloomgateError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault) {
  const ErrorCode code = place.path.empty() ? ErrorCode::bad_argument : ErrorCode::bad_configuration;
  return {code, sentence(place, option, fault), {.path = place.path}};
}

}  // namespace bloomgate
