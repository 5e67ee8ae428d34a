// What holds of every result of a deeper check, whatever bytes the checker sent. Used by the fuzz targets of the
// parsers.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/deep_result.hpp"
#include "milter/deep_check/result_fields.hpp"
#include "tests/fuzz/require.hpp"

namespace bloomgate::test {

// Nothing where the parser refuses the text.
inline std::optional<DeepResult> read_with(DeepResult (*parse)(std::string_view), std::string_view text) {
  try {
    return parse(text);
  } catch (const CheckerError& error) {
    require(std::string_view(error.what()).size() < 1000, "an error is bounded", text);
    return std::nullopt;
  }
}

inline void require_text(std::string_view text, std::size_t max_bytes) {
  require(text.size() <= max_bytes, "a text is bounded", text);
  require(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }), "a text is printable ASCII", text);
}

// A mail server takes it as one field, and what is on each of its lines as that field's.
inline void require_field(const ResultField& field) {
  require(field.value.size() <= 10'000, "a field is bounded", field.value);
  std::string_view rest = field.value;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest = rest.substr(std::min(rest.size(), line.size() + 1));
    require_text(line.starts_with('\t') ? line.substr(1) : line, 900);
    require(rest.empty() || rest.starts_with('\t'), "a line that goes on is folded", field.value);
  }
}

inline void require_sound(const DeepResult& result) {
  require_text(result.action, 40);
  require_text(result.smtp_message, 400);
  require(std::isfinite(result.score) && std::isfinite(result.spam_threshold) && std::isfinite(result.reject_threshold),
          "numbers are finite", result.action);
  require(result.symbols.size() <= 200, "the number of tests is bounded", result.action);
  for (const DeepSymbol& symbol : result.symbols) {
    require(!symbol.name.empty() && symbol.name.find_first_of(" ,;()[]") == std::string::npos,
            "the name of a test is one word", symbol.name);
    require_text(symbol.name, 100);
    require_text(symbol.options, 2100);
    require(symbol.options.find_first_of(";[]") == std::string::npos, "options end where they end", symbol.options);
    require(std::isfinite(symbol.score.value_or(0)), "scores are finite", symbol.name);
  }
  for (const ResultField& field : result_fields(result)) require_field(field);
}

}  // namespace bloomgate::test
