#include "config/config_error.hpp"

#include <algorithm>
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

std::string all_of(const std::vector<ConfigError>& errors) {
  std::string text;
  for (const ConfigError& each : errors) text.append(text.empty() ? "" : "; ").append(each.what());
  return text;
}

}  // namespace

ConfigError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault) {
  const ErrorCode code = place.path.empty() ? ErrorCode::bad_argument : ErrorCode::bad_configuration;
  return {code, sentence(place, option, fault), place};
}

ConfigErrors::ConfigErrors(const std::vector<ConfigError>& errors)
    : BloomgateError(errors.front().code(), all_of(errors)) {
  for (const ConfigError& each : errors) texts_.emplace_back(each.what());
}

void ConfigFaults::collect(const std::function<void()>& part) {
  try {
    part();
  } catch (const ConfigError& error) {
    if (errors_.size() < kMostKept) {
      errors_.push_back(error);
    } else {
      ++more_;
    }
  }
}

void ConfigFaults::throw_if_any() const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw errors_.front();
  std::vector<ConfigError> errors = errors_;
  std::ranges::stable_sort(errors, {}, [](const ConfigError& each) {
    return std::pair(each.code() != ErrorCode::bad_argument, each.line());
  });
  const std::size_t left_out = more_ + errors.size() - std::min(errors.size(), kMostTold);
  if (left_out != 0) {
    errors.erase(errors.begin() + kMostTold, errors.end());
    errors.emplace_back(errors.front().code(), std::to_string(left_out) + " more; is it the right file?",
                        ConfigPlace{});
  }
  throw ConfigErrors(errors);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMostBytes = 80;
  if (text.size() <= kMostBytes) return "'" + printable(text) + "'";
  return "'" + printable(text.substr(0, kMostBytes)) + "...'";
}

}  // namespace bloomgate
