#include "milter/deep_check/result_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

// The column at which a line is folded; a piece is not split. The field's name takes some of the 78 columns (RFC 5322
// section 2.1.1).
constexpr std::size_t kLineBytes = 60;
constexpr std::size_t kMaxFieldBytes = 8000;
constexpr std::size_t kMaxReasonBytes = 500;
constexpr double kMaxScore = 1e6;

double shown(double score) {
  return std::clamp(score, -kMaxScore, kMaxScore);
}

// Joins pieces and folds between them.
class FoldedText {
 public:
  explicit FoldedText(std::string first) : text_(std::move(first)), line_bytes_(text_.size()) {}

  // `space` separates the pieces where the line is not folded. Returns false if there is no room for more.
  bool add(std::string_view piece, std::string_view space) {
    if (text_.size() + piece.size() > kMaxFieldBytes) return false;
    const bool fits = line_bytes_ + space.size() + piece.size() <= kLineBytes;
    text_ += fits ? space : std::string_view("\n\t");
    text_ += piece;
    line_bytes_ = piece.size() + (fits ? line_bytes_ + space.size() : 0);
    return true;
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t line_bytes_;
};

std::string status_value(const DeepResult& result, bool is_spam) {
  FoldedText text(fmt::format("{}, score={:.1f} required={:.1f}", is_spam ? "Yes" : "No", shown(result.score),
                              shown(result.spam_threshold)));
  if (result.symbols.empty()) text.add("tests=none", " ");
  for (std::size_t i = 0; i < result.symbols.size(); ++i) {
    const char* const end = i + 1 < result.symbols.size() ? "," : "";
    const std::string_view begin = i == 0 ? "tests=" : "";
    if (!text.add(fmt::format("{}{}{}", begin, result.symbols[i].name, end), i == 0 ? " " : "")) break;
  }
  return text.take();
}

std::string rspamd_value(const DeepResult& result) {
  const auto end_of = [&](std::size_t shown_symbols) { return shown_symbols < result.symbols.size() ? ";" : ""; };
  FoldedText text(fmt::format("default: {} [{:.2f} / {:.2f}]{}", result.action == "reject" ? "True" : "False",
                              shown(result.score), shown(result.reject_threshold), end_of(0)));
  for (std::size_t i = 0; i < result.symbols.size(); ++i) {
    const DeepSymbol& symbol = result.symbols[i];
    const double score = shown(symbol.score.value_or(0));
    if (!text.add(fmt::format("{}({:.2f})[{}]{}", symbol.name, score, symbol.options, end_of(i + 1)), " ")) break;
  }
  return text.take();
}

}  // namespace

std::vector<ResultField> result_fields(const DeepResult& result) {
  const bool is_spam = result.verdict == DeepVerdict::spam || result.verdict == DeepVerdict::reject;
  std::vector<ResultField> fields = {{"X-Spam-Status", status_value(result, is_spam)}};
  if (is_spam) fields.push_back({"X-Spam-Flag", "YES"});
  fields.push_back({"X-Spam-Score", fmt::format("{:.1f}", shown(result.score))});
  if (!result.action.empty()) fields.push_back({"X-Spamd-Result", rspamd_value(result)});
  return fields;
}

std::vector<ResultField> failure_fields(std::string_view reason) {
  FoldedText text("Unknown,");
  std::istringstream words(ascii_text(reason, kMaxReasonBytes));
  for (std::string word; words >> word;) text.add(word, " ");
  return {{"X-Spam-Status", text.take()}};
}

}  // namespace bloomgate
