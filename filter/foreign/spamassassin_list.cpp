// The lists in SpamAssassin's configuration: Mail::SpamAssassin::Conf(3), "WELCOMELIST AND BLOCKLIST OPTIONS".
#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

// What a line without its comment says. `\#` is no comment.
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
  senders,           // patterns of senders, which nobody proves
  proven_senders,    // and only where SPF or DKIM proves them
  sender_by_relay,   // one pattern, and the name of a relay
  sender_by_signer,  // one pattern, and perhaps the domain that signs
  recipients,
  blocked,
};

struct Keyword {
  std::string_view name;
  Form form;
};

// Behind `welcomelist_` or the older `whitelist_`.
constexpr std::array kKeywords = {
    Keyword{"from", Form::senders},
    Keyword{"from_rcvd", Form::sender_by_relay},
    Keyword{"auth", Form::proven_senders},
    Keyword{"from_spf", Form::proven_senders},
    Keyword{"from_dkim", Form::sender_by_signer},
    Keyword{"from_dk", Form::sender_by_signer},
    Keyword{"to", Form::recipients},
};

struct Statement {
  bool takes_back = false;
  Form form = Form::senders;
};

std::optional<Statement> statement_of(std::string_view word) noexcept {
  Statement statement;
  if (word == "more_spam_to" || word == "all_spam_to") return Statement{.form = Form::recipients};
  if (word.starts_with("un")) {
    statement.takes_back = true;
    word.remove_prefix(2);
  }
  // The smaller bonus of the lists that come with the program.
  if (word.starts_with("def_")) word.remove_prefix(4);
  for (const std::string_view blocks : {"blocklist_from", "blacklist_from"}) {
    if (word == blocks) return Statement{statement.takes_back, Form::blocked};
  }
  for (const std::string_view list : {"welcomelist_", "whitelist_"}) {
    if (!word.starts_with(list)) continue;
    const auto* const found = std::ranges::find(kKeywords, word.substr(list.size()), &Keyword::name);
    if (found == kKeywords.end()) return std::nullopt;
    statement.form = found->form;
    return statement;
  }
  return std::nullopt;
}

SenderEntry signed_by(SenderEntry entry, std::string_view signer) {
  if (entry.text.empty() || signer.empty()) return entry;
  const Width width = entry.width;
  entry = entry_of_text(entry.text + " signed-by " + std::string(signer));
  entry.width = width;
  return entry;
}

class Reader {
 public:
  explicit Reader(ForeignList& list) : list_(list) {}

  void read(std::uint64_t number, std::string_view line) {
    const std::string text = without_comment(line);
    std::string_view rest = text;
    const std::optional<Statement> statement = statement_of(take_word(rest));
    if (!statement) return;  // a rule, a score: not a list
    number_ = number;
    is_removal_ = statement->takes_back;
    switch (statement->form) {
      case Form::senders:
      case Form::proven_senders:
        for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
          take(word, entry_of_glob(word), statement->form == Form::senders);
        }
        return;
      case Form::sender_by_relay: {
        const std::string_view word = take_word(rest);
        return take(word, entry_of_glob(word), true);
      }
      case Form::sender_by_signer: {
        const std::string_view word = take_word(rest);
        const std::string_view signer = take_word(rest);
        const std::string item = std::string(word) + (signer.empty() ? "" : " ") + std::string(signer);
        return take(item, signed_by(entry_of_glob(word), signer), false);
      }
      case Form::recipients:
        return list_.leave_out(number, ascii::trimmed(text, kBlanks), "a recipient, who gets all mail unchecked there");
      case Form::blocked:
        return list_.leave_out(number, ascii::trimmed(text, kBlanks),
                               "a blocked sender; the daemon's option 'revoked' is for those");
    }
  }

 private:
  void take(std::string_view item, SenderEntry entry, bool was_unproven) {
    if (item.empty()) return;
    if (is_removal_) return list_.take_back(number_, item, entry);
    list_.take(number_, item, std::move(entry), was_unproven);
  }

  ForeignList& list_;
  std::uint64_t number_ = 0;
  bool is_removal_ = false;
};

}  // namespace

void read_spamassassin(std::string_view text, ForeignList& list) {
  Reader reader(list);
  for (std::uint64_t number = 1; !text.empty(); ++number) reader.read(number, take_line(text));
}

}  // namespace bloomgate
