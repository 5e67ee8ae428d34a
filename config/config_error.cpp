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

std::string all_of(const std::vector<BloomgateError>& errors) {
  std::string text;
  for (const BloomgateError& each : errors) text.append(text.empty() ? "" : "; ").append(each.what());
  return text;
}

}  // namespace

BloomgateError config_error(const ConfigPlace& place, const std::string& option, const std::string& fault) {
  const ErrorCode code = place.path.empty() ? ErrorCode::bad_argument : ErrorCode::bad_configuration;
  return {code, sentence(place, option, fault), {.path = place.path}};
}

ConfigErrors::ConfigErrors(const std::vector<BloomgateError>& errors)
    : BloomgateError(errors.front().code(), all_of(errors)) {
  for (const BloomgateError& each : errors) texts_.emplace_back(each.what());
}

void ConfigFaults::collect(const std::function<void()>& part) {
  try {
    part();
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_argument && error.code() != ErrorCode::bad_configuration) throw;
    if (errors_.size() < kMost) {
      errors_.push_back(error);
    } else {
      ++more_;
    }
  }
}

void ConfigFaults::throw_if_any() const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw errors_.front();
  std::vector<BloomgateError> errors = errors_;
  if (more_ != 0) {
    errors.emplace_back(errors.front().code(), std::to_string(more_) + " more; is it the right file?");
  }
  throw ConfigErrors(errors);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMostBytes = 80;
  if (text.size() <= kMostBytes) return "'" + printable(text) + "'";
  return "'" + printable(text.substr(0, kMostBytes)) + "...'";
}

}  // namespace bloomgate
