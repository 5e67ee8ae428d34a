// What a checker says about a message. Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

enum class DeepVerdict {
  ham,
  spam,         // the message gets a mark: SpamAssassin's spam, rspamd's "add header" and "rewrite subject"
  soft_reject,  // rspamd: to be deferred
  reject,       // rspamd: to be rejected
};

// Whether the checker calls the message spam. A message that the checker only wants deferred may be good.
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

// Limits on the number of a checker's tests that are shown, and on the logged part of a server's name.
inline constexpr std::size_t kMaxSymbols = 200;
inline constexpr std::size_t kMaxLoggedServerBytes = 200;

// All texts are printable ASCII and bounded in length; numbers are finite.
struct DeepResult {
  DeepVerdict verdict = DeepVerdict::ham;
  double score = 0;
  double spam_threshold = 0;               // from this score on, the message is spam
  double reject_threshold = 0;             // rspamd: from this score on, the message is rejected
  std::string action = {};                 // rspamd: its own name for the action, "add header"; empty for SpamAssassin
  std::vector<DeepSymbol> symbols = {};    // the heaviest first, if scores are known
  std::string smtp_message = {};           // the checker's text for the client, if it has one
  std::string server = {};                 // the server that answered, as configured
  std::vector<std::string> failures = {};  // what went wrong with the servers that were tried before
};

}  // namespace bloomgate
