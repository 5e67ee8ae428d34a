#include "milter/deep_check/spamd_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "filter/base/ascii.hpp"
#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxQuotedBytes = 200;

[[noreturn]] void refuse_answer(const char* fault, std::string_view found) {
  throw CheckerError(fmt::format("{}: {}", fault, found.substr(0, kMaxQuotedBytes)));
}

std::string_view trimmed(std::string_view text) {
  return ascii::trimmed(text, " \t");
}

// Removes and returns the next piece of `rest`, up to `end`, which is removed, too; all of it if there is no `end`.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view piece = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return piece;
}

std::string_view take_line(std::string_view& rest) {
  if (rest.find('\n') == std::string_view::npos) refuse_answer("its answer breaks off", rest);
  std::string_view line = take_until(rest, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

template <typename Number>
std::optional<Number> number_of_text(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double finite_number(std::string_view text, std::string_view line) {
  const auto value = number_of_text<double>(trimmed(text));
  if (!value || !std::isfinite(*value)) refuse_answer("its field Spam has no number", line);
  return *value;
}

// Returns the text after the code.
std::string_view check_status(std::string_view line) {
  std::string_view rest = line;
  const std::string_view version = take_until(rest, ' ');
  rest = trimmed(rest);
  const auto code = number_of_text<unsigned>(take_until(rest, ' '));
  if (!version.starts_with("SPAMD/") || !code) refuse_answer("its answer is not spamd's", line);
  if (*code != 0) refuse_answer("it refuses", line);
  return trimmed(rest);
}

void read_spam_field(std::string_view line, DeepResult& result) {
  std::string_view rest = line;
  const std::string_view verdict = trimmed(take_until(rest, ';'));
  if (ascii::equal_ignoring_case(verdict, "true") || ascii::equal_ignoring_case(verdict, "yes")) {
    result.verdict = DeepVerdict::spam;
  } else if (!ascii::equal_ignoring_case(verdict, "false") && !ascii::equal_ignoring_case(verdict, "no")) {
    refuse_answer("its field Spam is neither True nor False", line);
  }
  if (rest.find('/') == std::string_view::npos) refuse_answer("its field Spam has no threshold", line);
  result.score = finite_number(take_until(rest, '/'), line);
  result.spam_threshold = finite_number(rest, line);
}

std::vector<DeepSymbol> symbols_of_body(std::string_view body) {
  std::vector<DeepSymbol> symbols;
  while (!body.empty() && symbols.size() < kMaxSymbols) {
    std::string_view name = take_until(body, ',');
    while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.remove_suffix(1);
    name = trimmed(name);
    if (!name.empty()) symbols.push_back({symbol_name(name), std::nullopt, {}});
  }
  return symbols;
}

}  // namespace

DeepResult parse_spamd_reply(std::string_view reply) {
  if (reply.empty()) throw CheckerError("it has closed the connection without an answer");
  DeepResult result;
  std::string_view rest = reply;
  check_status(take_line(rest));
  bool has_result = false;
  std::optional<std::uint64_t> body_bytes;
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    std::string_view value = line;
    const std::string_view name = trimmed(take_until(value, ':'));
    if (ascii::equal_ignoring_case(name, "spam")) {
      if (has_result) refuse_answer("its answer has two fields Spam", line);
      read_spam_field(value, result);
      has_result = true;
    } else if (ascii::equal_ignoring_case(name, "content-length")) {
      body_bytes = number_of_text<std::uint64_t>(trimmed(value));
      if (!body_bytes) refuse_answer("its field Content-length is not a number", line);
    }
  }
  if (!has_result) refuse_answer("its answer has no field Spam", reply);
  if (body_bytes.value_or(0) > rest.size()) refuse_answer("its answer breaks off", rest);
  result.symbols = symbols_of_body(rest);
  return result;
}

void require_pong(std::string_view reply) {
  if (reply.empty()) throw CheckerError("it has closed the connection without an answer");
  if (check_status(take_line(reply)) != "PONG") throw CheckerError("it does not answer PING with PONG");
}

}  // namespace bloomgate
