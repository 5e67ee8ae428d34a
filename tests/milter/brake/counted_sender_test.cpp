#include "milter/brake/counted_sender.hpp"

#include <string>
#include <vector>

#include "milter/policy/decide.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// "joe@example.org", or "@corp.example shared by ann@corp.example"; `list` counts as listed, without authentication.
std::string counted(std::string_view list, std::string_view envelope, std::string_view from,
                    IdentityRule identity = IdentityRule::either) {
  const ExactList extra = read_exact_list(list).list;
  const Policy policy = {.identity = identity, .authentication = AuthenticationRule::off};
  Lists lists;
  lists.extra = &extra;
  Facts facts;
  facts.envelope_sender = envelope;
  facts.header_from = {HeaderFromKind::one_mailbox, std::string(from)};
  const Decision decision = decide(facts, lists, policy);
  REQUIRE(decision.verdict == Verdict::deliver);
  const CountedSender sender = counted_sender(facts, decision, lists, policy);
  return std::string(sender.key.view()) + (sender.is_shared ? " shared by " + std::string(sender.address.view()) : "");
}

TEST_CASE("an address counts for itself, in one spelling, and without a tag") {
  CHECK(counted("joe@example.org\n", "<JOE@Example.org>", "ann@other.example") == "joe@example.org");
  CHECK(counted("joe@example.org\n", "<eve@other.example>", "Joe@example.org") == "joe@example.org");
  CHECK(counted("joe+news@example.org\n", "<joe+news@example.org>", "a@b.example") == "joe@example.org");
}

TEST_CASE("a sender that is listed by a domain counts for the domain's entry, which many senders share") {
  CHECK(counted("@corp.example\n", "<ann@corp.example>", "a@b.example") == "@corp.example shared by ann@corp.example");
  CHECK(counted("@.corp.example\n", "<a@b.example>", "ann@mail.corp.example") ==
        "@.corp.example shared by ann@mail.corp.example");
}

// All names of the sender of a message with these two senders, by that decision.
std::vector<std::string> names_by(std::string_view list, const Decision& decision, std::string_view envelope,
                                  std::string_view from, std::string_view list_id = {}) {
  const ExactList extra = read_exact_list(list).list;
  Lists lists;
  lists.extra = &extra;
  Grounds grounds;
  grounds.begin("", envelope);
  if (!list_id.empty()) grounds.add_field("List-Id", "<" + std::string(list_id) + ">");
  grounds.end_header({}, {});
  Facts facts;
  facts.grounds = &grounds;
  facts.envelope_sender = envelope;
  facts.header_from = {HeaderFromKind::one_mailbox, std::string(from)};
  const CountedSender sender = counted_sender(facts, decision, lists, {});
  std::vector<std::string> names;
  for (const std::string_view name : sender.names()) names.emplace_back(name);
  names.emplace_back(sender.is_shared ? "shared" : "alone");
  return names;
}

using Names = std::vector<std::string>;

Decision by(IdentityKind identity, ProofOf proof, std::string_view entry = {}) {
  Decision decision = {.verdict = Verdict::deliver, .identity = identity, .proof = proof};
  decision.entry.append(entry);
  return decision;
}

TEST_CASE("a message whose From mailbox is proven counts for that, whatever its envelope sender") {
  const Decision covered = by(IdentityKind::envelope, ProofOf::covered_from, "@example.org");
  CHECK(names_by("@example.org\n", covered, "<x@example.org>", "joe+news@example.org") ==
        Names{"@example.org", "joe@example.org", "joe@example.org", "", "shared"});
  CHECK(names_by("@example.org\njoe@example.org\n", covered, "<x@example.org>", "joe@example.org") ==
        Names{"joe@example.org", "", "joe@example.org", "", "alone"});
}

TEST_CASE("a message whose envelope sender alone is proven counts for that, and may be suspended by its From mailbox") {
  CHECK(names_by("@example.org\n", by(IdentityKind::envelope, ProofOf::envelope, "@example.org"), "<x+1@example.org>",
                 "joe+news@example.org") ==
        Names{"@example.org", "x@example.org", "x@example.org", "joe@example.org", "shared"});
  CHECK(names_by("x@example.org\n", by(IdentityKind::envelope, ProofOf::same_from), "<x@example.org>",
                 "X@example.org") == Names{"x@example.org", "", "x@example.org", "", "alone"});
}

TEST_CASE("a message of a mailing list counts for the list, for one recipient and below an entry, too") {
  const std::string_view list = "news.lists.example";
  const Names of_list = {"list:news.lists.example", "", "", "joe@example.org", "shared"};
  const auto named = [&](std::string_view entry) {
    return names_by("", by(IdentityKind::mailing_list, ProofOf::list_id, entry), "<b@lists.example>", "joe@example.org",
                    list);
  };
  CHECK(named("") == of_list);
  CHECK(named("list:news.lists.example") == of_list);
  CHECK(named("list:*.lists.example") ==
        Names{"list:*.lists.example", "list:news.lists.example", "", "joe@example.org", "shared"});
}

TEST_CASE("the users of a message are its recipients with and without a tag, and any user where that is not certain") {
  const auto users = [](std::vector<std::string_view> recipients, std::string_view delimiter = "") {
    return users_of(recipients, false, delimiter.empty() ? TagSeparators() : *TagSeparators::parse(delimiter));
  };
  CHECK(users({"<Ann+x@ours.example>"}).names == Names{"ann+x@ours.example", "ann@ours.example"});
  CHECK(users({"<Ann-x@ours.example>"}, "-").names == Names{"ann@ours.example"});
  CHECK(users({"<ann@ours.example>", "<bob@ours.example>"}).are_all_known);
  CHECK_FALSE(users({"<ann@ours.example>", "<bob>"}).are_all_known);
  CHECK_FALSE(users({"<ann%ours.example@mx.example>"}).are_all_known);
  CHECK_FALSE(users_of({}, true, {}).are_all_known);
  CHECK(users_of({}, false, {}).are_all_known);
  CHECK(counted_recipient("<Ann+x@ours.example>", {}) == counted_recipient("<ANN+y@Ours.example>", {}));
  CHECK(counted_recipient("<a b>", {}) == "<a b>");
}

TEST_CASE("if both senders count, the counted one is the From mailbox") {
  CHECK(counted("joe@example.org\nann@example.org\n", "<joe@example.org>", "ann@example.org", IdentityRule::both) ==
        "ann@example.org");
}

}  // namespace
}  // namespace bloomgate
