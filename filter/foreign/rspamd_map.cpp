// Maps of rspamd: a domain or an address on each line, which may have a value after it. The module `whitelist` looks up
// the organisation's domain for every host of it. So that entry lists all domains below it, too.
#include <algorithm>
#include <charconv>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/broad/broad_domains.hpp"
#include "filter/foreign/foreign_lines.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

enum class Verdict : std::uint8_t { good, bad, unknown };

// Nothing, a factor for the score, or `wl:`, `both:` or `bl:` before one.
Verdict verdict_of(std::string_view value) noexcept {
  if (value == "bl" || value.starts_with("bl:")) return Verdict::bad;
  for (const std::string_view word : {"wl", "both"}) {
    if (value.starts_with(word)) {
      value.remove_prefix(word.size());
      if (value.starts_with(':')) value.remove_prefix(1);
      break;
    }
  }
  if (value.empty()) return Verdict::good;
  double factor = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
  if (error != std::errc() || end != value.data() + value.size()) return Verdict::unknown;
  return factor > 0 ? Verdict::good : Verdict::bad;
}

SenderEntry entry_of_map_key(std::string_view key) {
  if (key.starts_with('/')) return {.text = {}, .fault = "a regular expression"};
  if (key.find('@') != std::string_view::npos) return entry_of_glob(key);
  if (key.starts_with("*.")) return entry_of_glob(key);
  SenderEntry domain = entry_of_domain(key, false);
  if (domain.text.empty()) return domain;
  // With the text as it is in the map; rspamd compares in lower case.
  if (!is_organizational_domain(ascii::lower_case(key))) {
    domain.width = Width::by_dmarc;
    return domain;
  }
  SenderEntry all = entry_of_domain(key, true);
  all.width = Width::with_below;
  return all;
}

}  // namespace

void read_rspamd(std::string_view text, ForeignList& list) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_foreign_line(text);
    line = ascii::trimmed(line.substr(0, line.find('#')), kBlanks);
    if (line.empty()) continue;
    const std::string_view key = line.substr(0, line.find_first_of(kBlanks));
    const Verdict verdict = verdict_of(ascii::trimmed(line.substr(key.size()), kBlanks));
    if (verdict == Verdict::good) {
      list.take(number, line, entry_of_map_key(key));
    } else {
      const std::string_view reason = verdict == Verdict::bad ? "its value makes mail worse, not better"
                                                              : "its value is not a number for the score";
      const SenderEntry entry = entry_of_map_key(key);
      if (!entry.text.empty()) {
        list.block(number, line, entry, reason);
      } else if (key.starts_with('/')) {
        list.block_unknown(number, line, reason);
      } else {
        list.block_glob(number, line, key, reason);
      }
    }
  }
}

}  // namespace bloomgate
