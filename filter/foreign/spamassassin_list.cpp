// The lists in SpamAssassin's configuration: Mail::SpamAssassin::Conf(3), "WELCOMELIST AND BLOCKLIST OPTIONS".
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/foreign/foreign_lines.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

// A line without its comment. `\#` does not begin a comment.
std::string without_comment(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    if (line[i] == '\\' && line.substr(i + 1).starts_with('#')) ++i;
    text += line[i];
  }
  return text;
}

std::string_view take_word(std::string_view& rest) noexcept {
  rest = ascii::trimmed(rest, kBlanks);
  const std::string_view word = rest.substr(0, std::min(rest.find_first_of(kBlanks), rest.size()));
  rest.remove_prefix(word.size());
  return word;
}

enum class Form : std::uint8_t {
  senders,           // patterns of senders, not authenticated
  proven_senders,    // patterns of senders, authenticated by SPF or DKIM
  sender_by_relay,   // one pattern, and the name of a relay
  sender_by_signer,  // one pattern, and perhaps the domain that signs
  recipients,
  blocked,
};

struct Keyword {
  std::string_view name;
  Form form;
};

// The keywords after `welcomelist_` or the older `whitelist_`.
constexpr std::array kKeywords = {
    Keyword{"from", Form::senders},
    Keyword{"from_rcvd", Form::sender_by_relay},
    Keyword{"allows_relays", Form::sender_by_relay},
    Keyword{"auth", Form::proven_senders},
    Keyword{"from_spf", Form::proven_senders},
    Keyword{"from_dkim", Form::sender_by_signer},
    Keyword{"from_dk", Form::sender_by_signer},
    Keyword{"to", Form::recipients},
};

struct Statement {
  bool takes_back = false;
  Form form = Form::senders;
  std::string_view name = {};  // of the list, without its prefix
};

// In lower case, with underscores.
std::optional<Statement> statement_of(std::string_view word) noexcept {
  Statement statement;
  if (word == "more_spam_to" || word == "all_spam_to") return Statement{.form = Form::recipients};
  if (word.starts_with("un")) {
    statement.takes_back = true;
    word.remove_prefix(2);
  }
  // The lists that come with the program, which give a smaller bonus.
  if (word.starts_with("def_")) word.remove_prefix(4);
  for (const std::string_view blocks : {"blocklist_from", "blacklist_from"}) {
    if (word == blocks) return Statement{statement.takes_back, Form::blocked};
  }
  for (const std::string_view list : {"welcomelist_", "whitelist_"}) {
    if (!word.starts_with(list)) continue;
    const auto* const found = std::ranges::find(kKeywords, word.substr(list.size()), &Keyword::name);
    if (found == kKeywords.end()) return std::nullopt;
    statement.form = found->form;
    statement.name = found->name;
    return statement;
  }
  return std::nullopt;
}

enum class Holds : std::uint8_t { yes, no, unknown };

// For SpamAssassin 4 in Debian's installation. Conditions that differ between installations are unknown.
Holds holds(std::string_view word, std::string_view condition) noexcept {
  constexpr std::array<std::string_view, 4> kPlugins = {"DKIM", "SPF", "WLBLEval", "WelcomeListSubject"};
  constexpr std::string_view kPlugin = "Mail::SpamAssassin::Plugin::";
  if (word == "ifplugin") {
    if (!condition.starts_with(kPlugin)) return Holds::unknown;
    return std::ranges::find(kPlugins, condition.substr(kPlugin.size())) == kPlugins.end() ? Holds::unknown
                                                                                           : Holds::yes;
  }
  std::string bare;
  for (const char byte : condition) {
    if (kBlanks.find(byte) == std::string_view::npos) bare += byte;
  }
  constexpr std::string_view kFeature = "can(Mail::SpamAssassin::Conf::feature_welcomelist_blocklist)";
  if (bare == kFeature) return Holds::yes;
  if (bare == "!" + std::string(kFeature)) return Holds::no;
  // `version >= 3.004` and `(version >= 3.004)`
  if (bare.starts_with('(') && bare.ends_with(')')) bare = bare.substr(1, bare.size() - 2);
  constexpr std::string_view kVersion = "version>=3.";
  const bool is_old = bare.starts_with(kVersion) && bare.find_first_not_of("0123456789", kVersion.size()) == bare.npos;
  return is_old ? Holds::yes : Holds::unknown;
}

// `USER_IN_WELCOMELIST 0`: a rule with the score 0 is not run.
bool turns_off(std::string_view rest) noexcept {
  if (!take_word(rest).starts_with("USER_IN_")) return false;
  const std::string_view value = take_word(rest);
  return !value.empty() && value.find_first_not_of("0.") == std::string_view::npos;
}

class SpamassassinReader {
 public:
  explicit SpamassassinReader(ForeignList& list) : list_(list) {}

  void read(std::uint64_t number, std::string_view line) {
    const std::string text = without_comment(line);
    std::string_view rest = text;
    std::string word = ascii::lower_case(take_word(rest));
    std::ranges::replace(word, '-', '_');
    number_ = number;
    if (is_condition(word, ascii::trimmed(rest, kBlanks))) return;
    // The file repeats these lists under older names, for versions without the new ones.
    if (count(Holds::no) != 0) return;
    if (word == "lang" && text.find("list_") != text.npos)
      return list_.leave_out(number, ascii::trimmed(text, kBlanks), "it holds for one language only");
    if (word == "score" && turns_off(rest))
      return list_.leave_out(number, ascii::trimmed(text, kBlanks),
                             "it turns a list off there; the entries of that list are here all the same");
    if (word == "include")
      return list_.leave_out(number, ascii::trimmed(text, kBlanks), "another file: import it, too");
    if (const std::optional<Statement> statement = statement_of(word))
      follow(*statement, ascii::trimmed(text, kBlanks), rest);
  }

 private:
  bool is_condition(std::string_view word, std::string_view condition) {
    if (word == "if" || word == "ifplugin") {
      enter(holds(word, condition));
    } else if (word == "else") {
      if (conditions_.empty()) return true;
      const Holds before = leave();
      enter(before == Holds::yes ? Holds::no : before == Holds::no ? Holds::yes : Holds::unknown);
    } else if (word == "endif") {
      if (!conditions_.empty()) leave();
    } else {
      return false;
    }
    return true;
  }

  void enter(Holds condition) {
    conditions_.push_back(condition);
    ++count_[static_cast<std::size_t>(condition)];
  }

  Holds leave() noexcept {
    const Holds last = conditions_.back();
    conditions_.pop_back();
    --count_[static_cast<std::size_t>(last)];
    return last;
  }

  std::size_t count(Holds condition) const noexcept { return count_[static_cast<std::size_t>(condition)]; }

  void follow(const Statement& statement, std::string_view text, std::string_view rest) {
    switch (statement.form) {
      case Form::senders:
      case Form::proven_senders:
        for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
          take(statement, word, entry_of_glob(word));
        }
        return;
      case Form::sender_by_relay:
        return list_.leave_out(number_, text, "it holds for mail through that relay only");
      case Form::sender_by_signer: {
        const std::string_view word = take_word(rest);
        const std::string_view signer = take_word(rest);
        const std::string item = std::string(word) + (signer.empty() ? "" : " ") + std::string(signer);
        return take(statement, item, signed_by(entry_of_glob(word), signer));
      }
      case Form::recipients:
        return list_.leave_out(number_, text, "a recipient, who gets all mail unchecked there");
      case Form::blocked:
        if (statement.takes_back) return;
        for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
          list_.block_glob(number_, word, word, "a blocked sender; the daemon's option 'revoked' is for those");
        }
        return;
    }
  }

  void take(const Statement& statement, std::string_view item, SenderEntry entry) {
    if (item.empty()) return;
    if (statement.takes_back) return list_.take_back(number_, item, statement.name);
    if (count(Holds::unknown) != 0) return list_.leave_out(number_, item, "it stands under a condition");
    list_.take(number_, item, std::move(entry), statement.form == Form::senders, statement.name);
  }

  ForeignList& list_;
  std::uint64_t number_ = 0;
  std::vector<Holds> conditions_;          // that enclose this line
  std::array<std::size_t, 3> count_ = {};  // how many of these are of each kind
};

}  // namespace

void read_spamassassin(std::string_view text, ForeignList& list) {
  SpamassassinReader reader(list);
  for (std::uint64_t number = 1; !text.empty(); ++number) reader.read(number, take_foreign_line(text));
}

}  // namespace bloomgate
