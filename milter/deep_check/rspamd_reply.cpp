#include "milter/deep_check/rspamd_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "filter/base/json.hpp"
#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxSymbols = 200;
constexpr std::size_t kMaxOptions = 20;
constexpr std::size_t kMaxOptionBytes = 100;
constexpr std::size_t kMaxActionBytes = 40;
constexpr std::size_t kMaxMessageBytes = 400;

std::optional<double> finite(const Json& value) {
  const auto number = value.number();
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// Omits options with characters that would end an option, or the list of options.
std::string options_of(const Json& symbol) {
  std::string out;
  std::size_t count = 0;
  for (const Json& option : symbol.at("options").elements()) {
    const auto text = option.text();
    if (!text) continue;
    if (++count > kMaxOptions) break;
    if (!out.empty()) out += ',';
    out += ascii_text(*text, kMaxOptionBytes, ";[]");
  }
  return out;
}

std::vector<DeepSymbol> symbols_of(const Json& reply) {
  std::map<std::string_view, const Json*> by_name;  // if a name occurs twice, the last one counts
  for (const auto& [name, symbol] : reply.at("symbols").members()) by_name[name] = &symbol;
  std::vector<DeepSymbol> symbols;
  for (const auto& [name, symbol] : by_name) {
    if (name.empty()) continue;
    symbols.push_back({symbol_name(name), finite(symbol->at("score")).value_or(0), options_of(*symbol)});
  }
  std::ranges::stable_sort(symbols, std::greater(), [](const DeepSymbol& symbol) { return std::abs(*symbol.score); });
  if (symbols.size() > kMaxSymbols) symbols.resize(kMaxSymbols);
  return symbols;
}

void read_thresholds(const Json& reply, DeepResult& result) {
  const Json& limits = reply.at("thresholds");
  result.reject_threshold = finite(limits.at("reject")).value_or(finite(reply.at("required_score")).value_or(0));
  const auto marked = finite(limits.at("add header"));
  result.spam_threshold = marked ? *marked : finite(limits.at("rewrite subject")).value_or(result.reject_threshold);
}

DeepVerdict verdict_of(const DeepResult& result) {
  static constexpr std::array<std::pair<std::string_view, DeepVerdict>, 8> kActions = {{
      {"no action", DeepVerdict::ham},
      {"greylist", DeepVerdict::ham},  // it would say "soft reject" if the message were to be deferred
      {"add header", DeepVerdict::spam},
      {"rewrite subject", DeepVerdict::spam},
      {"quarantine", DeepVerdict::spam},
      {"soft reject", DeepVerdict::soft_reject},
      {"reject", DeepVerdict::reject},
      {"discard", DeepVerdict::reject},  // no mail is lost silently
  }};
  for (const auto& [action, verdict] : kActions) {
    if (result.action == action) return verdict;
  }
  return result.spam_threshold > 0 && result.score >= result.spam_threshold ? DeepVerdict::spam : DeepVerdict::ham;
}

}  // namespace

DeepResult parse_rspamd_reply(std::string_view json) try {
  const Json reply = Json::parse(json);
  const auto score = finite(reply.at("score"));
  const auto action = reply.at("action").text();
  if (!score || !action) {
    const auto error = reply.at("error").text();
    throw CheckerError(error ? fmt::format("it says: {}", error->substr(0, 200))
                             : fmt::format("its answer has no score and no action: {}", json.substr(0, 100)));
  }
  DeepResult result;
  result.score = *score;
  result.action = ascii_text(*action, kMaxActionBytes);
  read_thresholds(reply, result);
  result.verdict = verdict_of(result);
  result.symbols = symbols_of(reply);
  result.smtp_message = ascii_text(reply.at("messages").at("smtp_message").text().value_or(""), kMaxMessageBytes);
  return result;
} catch (const JsonError& error) {
  throw CheckerError(fmt::format("its answer {}: {}", error.what(), json.substr(0, 100)));
}

}  // namespace bloomgate
