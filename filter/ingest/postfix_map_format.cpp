#include "filter/ingest/postfix_map_format.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

const LineFault kNoValue = {"map-no-value", "no value follows the key on its line"};
const LineFault kUnknownValue = {"map-unknown-value", "the value does not say that mail from there is good"};
const LineFault kNetwork = {"map-network", "the key is a network address, which says nothing about senders"};
constexpr std::string_view kSpace = " \t\r\v\f";

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, ascii::is_digit);
}

// The key ends at the first space that is not between double quotes.
std::size_t key_bytes(std::string_view line) noexcept {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && kSpace.find(line[i]) != std::string_view::npos) {
      return i;
    }
  }
  return line.size();
}

enum class Verdict { good, not_good, unknown };

template <std::size_t kCount>
bool is_one_of(std::string_view word, const std::array<std::string_view, kCount>& words) noexcept {
  return std::ranges::find(words, word) != words.end();
}

// transport(5), "RESULT FORMAT": transport:nexthop. error(8), of which retry is another name, and discard(8) refuse.
Verdict judge_transport(std::string_view word, bool alone) {
  constexpr std::array<std::string_view, 3> kRefusing = {"error", "retry", "discard"};
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return Verdict::unknown;
  const std::string_view transport = word.substr(0, colon);
  if (is_one_of(transport, kRefusing)) return Verdict::not_good;
  const bool is_name =
      std::ranges::all_of(transport, [](char c) { return ascii::is_letter_or_digit(c) || c == '-' || c == '_'; });
  const bool is_address_of_a_page = word.substr(colon).starts_with("://");
  return alone && is_name && !is_address_of_a_page ? Verdict::good : Verdict::unknown;
}

// access(5), "ACCEPT ACTIONS": OK, RELAY, and numbers, except the codes under "REJECT ACTIONS"; also permit, which has
// the same meaning in a list of restrictions. The other actions of access(5) do not accept mail.
Verdict judge(std::string_view value) {
  constexpr std::array<std::string_view, 3> kGood = {"ok", "relay", "permit"};
  constexpr std::array<std::string_view, 13> kNotGood = {
      "reject", "discard", "defer",    "defer_if_reject", "defer_if_permit",
      "dunno",  "hold",    "redirect", "filter",          "prepend",
      "bcc",    "warn",    "info"};
  const std::string word = ascii::lower_case(value.substr(0, value.find_first_of(kSpace)));
  const bool alone = word.size() == value.size();
  if (is_one_of(word, kGood)) return Verdict::good;
  if (is_one_of(word, kNotGood) || word.starts_with("reject_")) return Verdict::not_good;
  const bool starts_as_code = word[0] == '4' || word[0] == '5';
  if (all_digits(word)) {
    if (starts_as_code && word.size() == 3) return Verdict::not_good;
    return alone ? Verdict::good : Verdict::unknown;
  }
  // "5.7.1 text": an enhanced status code as in RFC 3463.
  if (starts_as_code && word[1] == '.') return Verdict::not_good;
  return judge_transport(word, alone);
}

// "192.0.2.1" or "192.0.2": a client's address or network in access(5), not a domain.
bool is_network(std::string_view key) noexcept {
  return all_digits(key.substr(key.rfind('.') + 1)) || std::ranges::count(key, ':') >= 2;
}

}  // namespace

ListLine PostfixMapFormat::read(const Block&, std::string_view line, AddressProfile profile) const {
  const std::size_t first = line.find_first_not_of(kSpace);
  const bool blank = first == std::string_view::npos || line[first] == '#';
  // A line that starts with space continues the value before it, whose first word has decided.
  if (blank || first != 0) return read_text_line({}, profile);
  const std::string_view key = line.substr(0, key_bytes(line));
  const std::string_view value = ascii::trimmed(line.substr(key.size()), kSpace);
  if (value.empty()) return {.entry = {}, .fault = kNoValue};
  const Verdict verdict = judge(value);
  if (verdict == Verdict::not_good) return read_text_line({}, profile);
  if (verdict == Verdict::unknown) return {.entry = {}, .fault = kUnknownValue};
  if (key.find('@') != std::string_view::npos) return read_sender(key, profile);
  if (is_network(key)) return {.entry = {}, .fault = kNetwork};
  return read_sender("@" + std::string(key), profile);
}

}  // namespace bloomgate
