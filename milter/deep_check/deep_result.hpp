// What a checker says of a message. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bloomgate {

enum class DeepVerdict {
  ham,
  spam,         // to be marked: SpamAssassin's spam, rspamd's "add header" and "rewrite subject"
  soft_reject,  // rspamd: to be put off
  reject,       // rspamd: not to be taken
};

struct DeepSymbol {
  std::string name = {};
  std::optional<double> score = {};  // not known of SpamAssassin's
  std::string options = {};          // rspamd's, separated by commas

  friend bool operator==(const DeepSymbol&, const DeepSymbol&) = default;
};

// All texts are printable ASCII and bounded in length; numbers are finite.
struct DeepResult {
  DeepVerdict verdict = DeepVerdict::ham;
  double score = 0;
  double spam_threshold = 0;               // the score from which on it is spam
  double reject_threshold = 0;             // rspamd: from which on it is rejected
  std::string action = {};                 // rspamd: in its words, "add header"; empty for SpamAssassin
  std::vector<DeepSymbol> symbols = {};    // the heaviest first, where scores are known
  std::string smtp_message = {};           // what the client is to be told, where the checker has something to tell it
  std::string server = {};                 // who answered, as it is configured
  std::vector<std::string> failures = {};  // what was wrong with the servers that were tried before it
};

}  // namespace bloomgate
