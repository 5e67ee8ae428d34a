// What a checker says of a message. Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

enum class DeepVerdict {
  ham,
  spam,         // to be marked: SpamAssassin's spam, rspamd's "add header" and "rewrite subject"
  soft_reject,  // rspamd: to be put off
  reject,       // rspamd: to be rejected
};

// Whether the checker calls it spam. What it wants to be put off may be good.
constexpr bool is_spam(DeepVerdict verdict) noexcept {
  return verdict == DeepVerdict::spam || verdict == DeepVerdict::reject;
}

// "ham", "spam", "soft-reject", "reject". Never fails.
std::string_view deep_verdict_name(DeepVerdict verdict) noexcept;

struct DeepSymbol {
  std::string name = {};
  std::optional<double> score = {};  // not known for SpamAssassin's
  std::string options = {};          // rspamd's, separated by commas

  friend bool operator==(const DeepSymbol&, const DeepSymbol&) = default;
};

// More tests of a checker are not shown, and no more of a server's name is logged.
inline constexpr std::size_t kMaxSymbols = 200;
inline constexpr std::size_t kMaxLoggedServerBytes = 200;

// All texts are printable ASCII and bounded in length; numbers are finite.
struct DeepResult {
  DeepVerdict verdict = DeepVerdict::ham;
  double score = 0;
  double spam_threshold = 0;               // from this score on it is spam
  double reject_threshold = 0;             // rspamd: from this score on it is rejected
  std::string action = {};                 // rspamd: its own name for the action, "add header"; empty for SpamAssassin
  std::vector<DeepSymbol> symbols = {};    // the heaviest first, if scores are known
  std::string smtp_message = {};           // the checker's text for the client, if it has one
  std::string server = {};                 // the server that answered, as configured
  std::vector<std::string> failures = {};  // the faults of the servers that were tried before it
};

}  // namespace bloomgate
