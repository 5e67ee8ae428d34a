// Messages while the daemon is in all kinds of states: reads cases, one a line with tabs between, and prints a line for
// each, what the message got and whether it has taught. rules_test.py makes the cases, and knows what is right.
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/enum_words.hpp"
#include "tests/milter/judge/hearing_parts.hpp"
#include "tests/support/fresh_signature.hpp"

namespace bloomgate::test {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;  // by names
using Case = Texts;                                             // by the names in the first line

constexpr std::string_view kUser = "me@ours.example";
constexpr std::string_view kFriend = "x@other.example";    // whom the user may know already
constexpr std::string_view kStranger = "zoe@new.example";  // to whom the user may write now

const Texts kRevoked = {{"empty", ""},
                        {"mailbox", "joe@a.example\n"},
                        {"domain", "@corp.example\n"},
                        {"friend", "x@other.example\n"},
                        {"pair", "joe@a.example > me@ours.example\n"},
                        {"stranger", "zoe@new.example > me@ours.example\n"}};
const Texts kOptOut = {
    {"empty", ""}, {"user", "me@ours.example\n"}, {"other", "bob@ours.example\n"}, {"domain", "@ours.example\n"}};

template <typename Enum>
Enum enum_of(std::string_view word) {
  return static_cast<Enum>(std::ranges::find(kWordsOf<Enum>, word) - kWordsOf<Enum>.begin());
}

JudgeRules rules_of(const Case& values) {
  JudgeRules rules = {.trusted_authserv_ids = {"mx.example.net"}};
  Policy& policy = rules.policy;
  policy.identity = enum_of<IdentityRule>(values.at("identity"));
  policy.authentication = enum_of<AuthenticationRule>(values.at("authentication"));
  policy.alignment = enum_of<Alignment>(values.at("alignment"));
  policy.spf_proves = enum_of<SpfProves>(values.at("spf_proves"));
  policy.trust_arc = true;
  policy.undo_batv = values.at("undo_batv") == "yes";
  policy.trusted_forwarders = {"fwd.example"};
  policy.exempt_logged_in = values.at("exempt") != "no";
  if (values.at("exempt") == "deliver") policy.exempt_action = ExemptAction::deliver;
  if (values.at("own_domains") == "yes") policy.own_domains = read_exact_list("@ours.example\n").list;
  return rules;
}

ExactListPart exact_list(const Texts& lists, const std::string& which, ListOf of) {
  if (which == "none") return {};
  if (which == "lost") return {.is_lost = true};
  return {.list = std::make_shared<const ExactList>(read_exact_list(lists.at(which), of).list)};
}

// The whitelist, and how it is lost.
struct Whitelists {
  WhitelistFile good{{"joe@a.example", "@corp.example", "@.tree.example"}}, bad{{"joe@a.example"}};
  std::shared_ptr<const LoadedFilter> loaded = good.load(), damaged = bad.load();
  Whitelists() { bad.truncate(); }
  std::shared_ptr<const LoadedFilter> in(std::string_view state) const {
    return state == "there" ? loaded : state == "damaged" ? damaged : nullptr;
  }
};

// What stands before the value of each field, as the case has it.
void add_results(Mail& mail, std::string& results, std::string_view prefix, const std::string& value,
                 const std::string& of) {
  if (value.empty() || of.empty()) return;
  results = "mx.example.net; " + std::string(prefix) + value + of;
  mail.fields.emplace_back("Authentication-Results", results);
}

std::string domain_of(const std::string& address) {
  const std::size_t at = address.find('@');
  return at == std::string::npos ? "" : address.substr(at + 1);
}

class Heard : public Teaching {
 public:
  Heard(const Case& values, const Whitelists& whitelists) : Teaching(rules_of(values)), values_(values) {
    set_lists({.whitelists = {{"main", whitelists.in(of("whitelist"))}},
               .revoked = exact_list(kRevoked, of("revoked"), ListOf::senders),
               .opt_out = exact_list(kOptOut, of("opt_out"), ListOf::recipients)});
    if (of("learning") == "off") learner.set_rules({});
    if (of("learning") == "knows") {
      learner.learn({.user = std::string(kUser), .correspondents = {std::string(kFriend)}}, "me",
                    learner.begin_message());
    }
    // Who sends that much is held from then on; entries of domains are not, since they have no habit.
    for (int i = 0; of("brake") == "burst" && i < 70; ++i) {
      for (const std::string_view sender : {"joe@a.example", "x@other.example"}) brake.count({.sender = sender});
    }
    if (of("mode") == "observe") parts.mode = Mode::observe;
    const std::string& checker = of("checker");
    if (checker == "none" || parts.mode == Mode::observe) return;
    ask(checker == "ham" ? DeepVerdict::ham : DeepVerdict::spam);
    if (checker != "fails") return;
    parts.deep_check = std::make_shared<DeepCheck>(
        DeepCheckOptions(), [](const auto&, const auto&) -> DeepResult { throw std::runtime_error("no answer"); });
  }

  // "MARK REASON taught", or without the last word.
  std::string outcome() {
    Mail mail = {.sender = of("envelope"), .recipients = {}, .login = of("login") == "yes" ? "me" : ""};
    for (const std::string_view to : {kUser, std::string_view("bob@ours.example"), kStranger}) {
      if (of("recipients").find(to.substr(0, to.find('@'))) != std::string::npos) mail.recipients.push_back(to);
    }
    const std::string& from = of("sender");
    if (from == "!two") mail.fields.emplace_back("From", "joe@evil.example <joe@a.example>");
    if (!from.starts_with('!')) mail.fields.emplace_back("From", from);
    std::string spf, dkim, dmarc;
    add_results(mail, spf, "spf=", of("spf"), " smtp.mailfrom=" + domain_of(of("envelope")));
    const std::string signature = fresh_signature(of("signer"));
    if (of("signature") == "there" && !of("signer").empty()) mail.fields.emplace_back("DKIM-Signature", signature);
    add_results(mail, dkim, "dkim=pass header.d=", of("signer"), " ");
    if (!from.starts_with('!')) add_results(mail, dmarc, "dmarc=", of("dmarc"), " header.from=" + domain_of(from));
    if (of("arc") == "pass") mail.fields.emplace_back("Authentication-Results", "mx.example.net; arc=pass");
    const std::string& header = of("header");
    if (header == "program") mail.fields.emplace_back("Auto-Submitted", "auto-replied");
    if (header == "forged") mail.fields.emplace_back("X-Bloomgate", "deliver");
    if (header == "too much") mail.fields.insert(mail.fields.end(), 2000, {"Authentication-Results", "x; none"});
    std::string mark = hear(mail);
    const std::size_t reason = mark.find("; reason=");
    if (reason != std::string::npos) {
      mark = mark.substr(0, reason) + " " + mark.substr(reason + 9, mark.find(';', reason + 9) - reason - 9);
    }
    return mark + (learner.is_learned(kUser, kStranger) ? " taught" : "");
  }

 private:
  const std::string& of(std::string_view name) const { return values_.find(name)->second; }

  const Case& values_;
};

std::vector<std::string> read_row() {
  std::vector<std::string> row;
  std::string line;
  if (!std::getline(std::cin, line)) return row;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    row.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return row;
}

}  // namespace
}  // namespace bloomgate::test

int main() {
  using namespace bloomgate::test;
  const Whitelists whitelists;
  const std::vector<std::string> names = read_row();
  for (std::vector<std::string> row = read_row(); !row.empty(); row = read_row()) {
    Case values;
    for (std::size_t at = 0; at < names.size(); ++at) values[names[at]] = row.at(at);
    std::cout << Heard(values, whitelists).outcome() << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
