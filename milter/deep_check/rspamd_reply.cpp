#include "milter/deep_check/rspamd_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxSymbols = 200;
constexpr std::size_t kMaxOptions = 20;
constexpr std::size_t kMaxOptionBytes = 100;
constexpr std::size_t kMaxActionBytes = 40;
constexpr std::size_t kMaxMessageBytes = 400;

Json parse_json(std::string_view text) {
  const auto check_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) throw CheckerError("its answer is nested too deeply");
    return true;
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const Json::exception&) {
    throw CheckerError(fmt::format("its answer is not JSON: {}", text.substr(0, 100)));
  }
}

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> number(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  if (!value || !value->is_number()) return std::nullopt;
  const double result = value->get<double>();
  return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

std::optional<std::string_view> text(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  if (!value || !value->is_string()) return std::nullopt;
  return value->get_ref<const std::string&>();
}

// Characters that would end an option, or the list of options, cannot be part of one.
std::string options_of(const Json& symbol) {
  std::string out;
  const Json* const options = member(symbol, "options");
  if (!options || !options->is_array()) return out;
  std::size_t count = 0;
  for (const Json& option : *options) {
    if (!option.is_string()) continue;
    if (++count > kMaxOptions) break;
    if (!out.empty()) out += ',';
    out += ascii_text(option.get_ref<const std::string&>(), kMaxOptionBytes, ";[]");
  }
  return out;
}

std::vector<DeepSymbol> symbols_of(const Json& reply) {
  std::vector<DeepSymbol> symbols;
  const Json* const all = member(reply, "symbols");
  if (!all || !all->is_object()) return symbols;
  for (const auto& [name, symbol] : all->items()) {
    if (name.empty()) continue;
    symbols.push_back({symbol_name(name), number(symbol, "score").value_or(0), options_of(symbol)});
  }
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const DeepSymbol& a, const DeepSymbol& b) { return std::abs(*a.score) > std::abs(*b.score); });
  if (symbols.size() > kMaxSymbols) symbols.resize(kMaxSymbols);
  return symbols;
}

void read_thresholds(const Json& reply, DeepResult& result) {
  const double required = number(reply, "required_score").value_or(0);
  const Json* const thresholds = member(reply, "thresholds");
  const Json none = Json::object();
  const Json& limits = thresholds ? *thresholds : none;
  result.reject_threshold = number(limits, "reject").value_or(required);
  const auto marked = number(limits, "add header");
  result.spam_threshold = marked ? *marked : number(limits, "rewrite subject").value_or(result.reject_threshold);
}

DeepVerdict verdict_of(const DeepResult& result) {
  static constexpr std::array<std::pair<std::string_view, DeepVerdict>, 8> kActions = {{
      {"no action", DeepVerdict::ham},
      {"greylist", DeepVerdict::ham},  // it would say "soft reject" if the message were to be put off
      {"add header", DeepVerdict::spam},
      {"rewrite subject", DeepVerdict::spam},
      {"quarantine", DeepVerdict::spam},
      {"soft reject", DeepVerdict::soft_reject},
      {"reject", DeepVerdict::reject},
      {"discard", DeepVerdict::reject},  // no mail disappears silently
  }};
  for (const auto& [action, verdict] : kActions) {
    if (result.action == action) return verdict;
  }
  return result.spam_threshold > 0 && result.score >= result.spam_threshold ? DeepVerdict::spam : DeepVerdict::ham;
}

}  // namespace

DeepResult parse_rspamd_reply(std::string_view json) {
  const Json reply = parse_json(json);
  const auto score = number(reply, "score");
  const auto action = text(reply, "action");
  if (!score || !action) {
    const auto error = text(reply, "error");
    throw CheckerError(error ? fmt::format("it says: {}", error->substr(0, 200))
                             : fmt::format("its answer has no score and no action: {}", json.substr(0, 100)));
  }
  DeepResult result;
  result.score = *score;
  result.action = ascii_text(*action, kMaxActionBytes);
  read_thresholds(reply, result);
  result.verdict = verdict_of(result);
  result.symbols = symbols_of(reply);
  if (const Json* const messages = member(reply, "messages")) {
    result.smtp_message = ascii_text(text(*messages, "smtp_message").value_or(""), kMaxMessageBytes);
  }
  return result;
}

}  // namespace bloomgate
