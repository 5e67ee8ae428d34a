#include "config/config_error.hpp"

#include <utility>

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

ConfigError::ConfigError(ConfigPlace place, std::string option, const std::string& fault)
    : std::runtime_error(sentence(place, option, fault)), place_(std::move(place)), option_(std::move(option)) {}

}  // namespace bloomgate
