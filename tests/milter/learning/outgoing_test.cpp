#include "milter/learning/outgoing.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Paths = std::vector<std::string_view>;

// A message of ann, who has logged in, to joe.
struct Message {
  Facts facts = {.envelope_sender = "<Ann@ours.example>", .origin = {.logged_in = true}};
  Paths recipients = {"Joe@Example.org"};
  Policy policy = {.recipient_delimiter = *TagSeparators::parse("+"),
                   .own_domains = read_exact_list("@ours.example\n@.far.example\n").list};
  ExactList revoked = read_exact_list("gone@example.org\n@bad.example\n").list;
  ExactList opt_out = read_exact_list("Ann@ours.example\n", ListOf::recipients).list;
  Lists lists = {};
  LessonRules rules = {.most_recipients = 3};

  std::string lesson() {
    if (facts.recipients.state == Recipients::State::unknown && has_recipients) {
      facts.recipients.state = Recipients::State::all;
    }
    facts.recipients.paths = recipients;
    if (has_revoked) lists.revoked = &revoked;
    const Lesson lesson = lesson_of(facts, lists, policy, rules);
    if (lesson.is_empty()) return "nothing";
    std::string text = lesson.user + (lesson.exempt_client ? " at " + to_string(*lesson.exempt_client) : "") + ":";
    for (const std::string& each : lesson.correspondents) text += " " + each;
    return text;
  }
  // Of an exempt network, where such clients teach.
  void come_from(std::optional<IpAddress> client, std::string_view exempt_network = "192.0.2.0/24") {
    facts.origin = {.client = client};
    policy.exempt_networks = {*parse_ip_network(exempt_network)};
    rules.from_exempt = true;
  }
  bool has_recipients = true;
  bool has_revoked = true;
};

TEST_CASE("a user's message teaches its recipients, and no other message does") {
  const std::string kLearned = "ann@ours.example: joe@example.org";
  struct Case {
    const char* sentence;
    std::function<void(Message&)> change;
    std::string want;
  };
  const Case cases[] = {
      {"as it is", [](Message&) {}, kLearned},
      {"the user's tag goes", [](Message& m) { m.facts.envelope_sender = "<ann+shop@ours.example>"; }, kLearned},
      {"a domain below one's own", [](Message& m) { m.facts.envelope_sender = "<ann@b.far.example>"; },
       "ann@b.far.example: joe@example.org"},
      {"a recipient's tag stays", [](Message& m) { m.recipients = {"joe+x@example.org"}; },
       "ann@ours.example: joe+x@example.org"},
      {"several", [](Message& m) { m.recipients = {"a@example.org", "b@example.org", "c@example.org"}; },
       "ann@ours.example: a@example.org b@example.org c@example.org"},
      {"too many", [](Message& m) { m.recipients = {"a@a.example", "b@a.example", "c@a.example", "d@a.example"}; },
       "nothing"},
      {"not all are known", [](Message& m) { m.facts.recipients.state = Recipients::State::too_many; }, "nothing"},
      {"none was asked for", [](Message& m) { m.has_recipients = false; }, "nothing"},
      {"own recipients", [](Message& m) { m.recipients = {"bob@ours.example", "x@y.far.example", "joe@example.org"}; },
       kLearned},
      {"revoked ones", [](Message& m) { m.recipients = {"gone@example.org", "gone+x@example.org", "x@bad.example"}; },
       "nothing"},
      {"revoked for this user",
       [](Message& m) {
         m.revoked = read_exact_list("joe@example.org > ann@ours.example\n@pal.example > @ours.example\n").list;
         m.recipients = {"Joe@example.org", "joe+x@example.org", "x@pal.example", "eve@example.org"};
         m.rules.most_recipients = 4;
       },
       "ann@ours.example: eve@example.org"},
      {"revoked for another user",
       [](Message& m) { m.revoked = read_exact_list("joe@example.org > bob@ours.example\n").list; }, kLearned},
      {"revoked for this user, who has a tag of another kind",
       [](Message& m) {
         m.revoked = read_exact_list("joe@example.org > ann@ours.example\n").list;
         m.facts.envelope_sender = "<ann+x@ours.example>";
         m.policy.recipient_delimiter = {};
       },
       "nothing"},
      {"the list revoked is lost",
       [](Message& m) {
         m.has_revoked = false;
         m.lists.revoked_is_configured = true;
       },
       "nothing"},
      {"there is no list of revoked ones", [](Message& m) { m.has_revoked = false; }, kLearned},
      {"the user has opted out",
       [](Message& m) {
         m.lists.opt_out = &m.opt_out;
         m.facts.envelope_sender = "<ann+shop@ours.example>";
       },
       "nothing"},
      {"another user has opted out",
       [](Message& m) {
         m.lists.opt_out = &m.opt_out;
         m.facts.envelope_sender = "<bob@ours.example>";
       },
       "bob@ours.example: joe@example.org"},
      {"the list opt-out is lost", [](Message& m) { m.lists.opt_out_is_configured = true; }, "nothing"},
      {"no address", [](Message& m) { m.recipients = {"postmaster", "a@b@example.org", ""}; }, "nothing"},
      {"not logged in", [](Message& m) { m.facts.origin.logged_in = false; }, "nothing"},
      {"not logged in, of an exempt network",
       [](Message& m) {
         m.come_from(parse_ip_address("192.0.2.7"));
         m.rules.from_exempt = false;
       },
       "nothing"},
      {"the same, if such clients teach", [](Message& m) { m.come_from(parse_ip_address("192.0.2.7")); },
       "ann@ours.example at 192.0.2.7: joe@example.org"},
      {"logged in, of an exempt network",
       [](Message& m) {
         m.come_from(parse_ip_address("192.0.2.7"));
         m.facts.origin.logged_in = true;
       },
       kLearned},
      {"of another network", [](Message& m) { m.come_from(parse_ip_address("192.0.3.7")); }, "nothing"},
      {"of no known address", [](Message& m) { m.come_from(std::nullopt, "::/0"); }, "nothing"},
      {"a foreign sender", [](Message& m) { m.facts.envelope_sender = "<ann@example.org>"; }, "nothing"},
      {"a bounce", [](Message& m) { m.facts.envelope_sender = "<>"; }, "nothing"},
      {"no sender", [](Message& m) { m.facts.envelope_sender.reset(); }, "nothing"},
      {"a domain as sender", [](Message& m) { m.facts.envelope_sender = "<@ours.example>"; }, "nothing"},
      {"a domain as recipient", [](Message& m) { m.recipients = {"@example.org", "joe@example.org"}; }, kLearned},
      {"an address for leaving a list",
       [](Message& m) { m.recipients = {"<dev-leave@lists.example.org>", "joe@example.org"}; }, kLearned},
      {"an automatic message", [](Message& m) { m.facts.is_automatic = true; }, "nothing"},
  };
  for (const Case& each : cases) {
    INFO(each.sentence);
    Message message;
    each.change(message);
    CHECK(message.lesson() == each.want);
  }
}

}  // namespace
}  // namespace bloomgate
