#include "milter/monitoring/last_decisions.hpp"

#include <atomic>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("only the first letter and the domain of an address are kept") {
  struct Case {
    std::string address, want;
  };
  const Case cases[] = {
      {"joe@example.org", "j\u2026@example.org"},
      {"<joe@example.org>", "j\u2026@example.org"},
      {"j@example.org", "\u2026@example.org"},  // its first letter would be all of it
      {"@example.org", "\u2026@example.org"},
      {"\"a b@c\"@example.org", "\"\u2026@example.org"},
      {"\xc3\xbc\xc3\xbc@example.org", "\u2026@example.org"},
      {" joe@example.org", "\u2026@example.org"},
      {"<>", "<>"},
      {"", "<>"},
      {"joe.smith", "\u2026"},
      {"<joe", "\u2026"},
      {"joe@exa\nmple\x1b.org", "j\u2026@exa\\x0ample\\x1b.org"},
      {"joe@" + std::string(64, 'd'), "j\u2026@" + std::string(64, 'd')},
      {"joe@" + std::string(65, 'd'), "j\u2026@" + std::string(64, 'd') + "\u2026"},
      {std::string(100000, 'x'), "\u2026"},
  };
  for (const Case& c : cases) {
    INFO(c.address.substr(0, 80));
    CHECK(MaskedAddress(c.address).text() == c.want);
  }
  CHECK(MaskedAddress().text() == "-");
}

Facts facts_of(std::string_view sender) {
  Facts facts;
  facts.envelope_sender = sender;
  return facts;
}

TEST_CASE("the last decisions are listed latest first, and older ones are dropped") {
  LastDecisions last;
  CHECK(last.all().empty());
  std::vector<std::string> senders;
  for (std::size_t i = 0; i < LastDecisions::kCount + 7; ++i) {
    senders.push_back("joe@d" + std::to_string(i) + ".example");
    last.note(facts_of(senders.back()), {.verdict = Verdict::deliver, .reason = Reason::listed}, "4XyZ1", i % 2 == 1);
  }
  const std::vector<SeenDecision> all = last.all();
  REQUIRE(all.size() == LastDecisions::kCount);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t number = senders.size() - 1 - i;
    CHECK(all[i].sender.text() == "j\u2026@d" + std::to_string(number) + ".example");
    CHECK(all[i].is_refused == (number % 2 == 1));
    CHECK(all[i].verdict == Verdict::deliver);
    CHECK(all[i].reason == Reason::listed);
  }
}

TEST_CASE("decisions may be added and read concurrently") {
  LastDecisions last;
  std::atomic<int> wrong = 0;
  test::at_once(4, [&](int thread) {
    for (int i = 0; thread != 0 && i < 2000; ++i)
      last.note(facts_of("joe@example.org"), {}, std::string(100, 'x'), false);
    for (int i = 0; thread == 0 && i < 50; ++i) {
      for (const SeenDecision& each : last.all()) wrong += each.sender.text() == "j\u2026@example.org" ? 0 : 1;
    }
  });
  CHECK(wrong == 0);
  CHECK(last.all().size() == LastDecisions::kCount);
}

}  // namespace
}  // namespace bloomgate
