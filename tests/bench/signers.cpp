// What mailing lists and entries with a signer cost in a decision, and what they cost where no list has any:
// `bench_signers [MESSAGES [MAIL LISTS]]`. Prints nanoseconds of processor time a message for each kind of mail and of
// lists. With MAIL and LISTS it prints nothing but the verdict, for a program that counts instructions.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "milter/policy/decide.hpp"
#include "tests/bench/few_entries.hpp"
#include "tests/bench/processor_time.hpp"

namespace {

using namespace bloomgate;

struct Mail {
  std::string_view name;
  std::string_view from;
  std::string_view envelope;
  std::vector<std::string_view> signers;
  std::string_view list_id = {};
};

const Mail kMails[] = {
    {"listed", "joe@news.example.org", "<joe@news.example.org>", {"news.example.org"}},
    {"unlisted", "x@other.example", "<b-1@mail.service.example>", {"other.example", "service.example"}},
    {"post",
     "x@other.example",
     "<dev-bounces@lists.example.net>",
     {"other.example", "lists.example.net"},
     "Developers <dev.lists.example.net>"},
};

struct Kind {
  std::string_view name;
  std::vector<std::string> entries;
};

// None of the mail is listed by them, so that each is looked for in vain.
const Kind kKinds[] = {
    {"without", {}},
    {"mailing-lists", {"list:ops.lists.example.net", "list:*.lists.example.com"}},
    {"signers", {"billing@bank.example signed-by esp.example", "@shop.example signed-by mg.shop.example"}},
    {"both", {"list:ops.lists.example.net", "billing@bank.example signed-by esp.example"}},
};

// Its signatures are good, as our own verifier found.
Facts facts_of(const Mail& mail, Grounds& grounds) {
  grounds.begin("mail.example.org", mail.envelope);
  grounds.add_field("From", mail.from);
  if (!mail.list_id.empty()) grounds.add_field("List-Id", mail.list_id);
  Signatures signatures;
  for (const std::string_view signer : mail.signers) {
    grounds.add_signature("v=1; s=s; b=Zm9v; h=from:subject:date:list-id; d=" + std::string(signer));
    signatures.all.push_back({.outcome = SignatureOutcome::pass, .domain = std::string(signer)});
  }
  grounds.end_header({}, std::chrono::sys_seconds{});
  Facts facts = {.envelope_sender = mail.envelope,
                 .header_from = {HeaderFromKind::one_mailbox, std::string(mail.from)},
                 .grounds = &grounds};
  facts.signatures = std::move(signatures);
  return facts;
}

struct Measured {
  double seconds = 0;
  Verdict verdict = Verdict::check;
};

Measured measure(const Mail& mail, const Kind& kind, std::uint64_t messages) {
  std::vector<std::string> entries = {"joe@news.example.org"};
  entries.insert(entries.end(), kind.entries.begin(), kind.entries.end());
  const bench::FewEntries whitelist(entries);
  const NamedWhitelist named[] = {{"main", &whitelist}};
  const Lists lists = {.whitelists = named};
  Policy policy;
  policy.verify_signatures = true;
  Grounds grounds;
  const Facts facts = facts_of(mail, grounds);
  Measured measured;
  const double start = bench::processor_seconds();
  for (std::uint64_t count = 0; count < messages; ++count) measured.verdict = decide(facts, lists, policy).verdict;
  measured.seconds = bench::processor_seconds() - start;
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 200'000;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), messages);
  const bool counts_one = argc > 3;
  for (const Mail& mail : kMails) {
    for (const Kind& kind : kKinds) {
      if (counts_one && (mail.name != argv[2] || kind.name != argv[3])) continue;
      const Measured measured = measure(mail, kind, messages);
      if (!counts_one) {
        std::cout << mail.name << ", " << kind.name << ": " << 1e9 * measured.seconds / static_cast<double>(messages)
                  << " ns, ";
      }
      std::cout << (measured.verdict == Verdict::deliver ? "delivered" : "checked") << "\n";
    }
  }
}
