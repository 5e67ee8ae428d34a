// How many contacts one user gets in a list.
#include "filter/contacts/contact_limit.hpp"

#include "sink.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

struct Pair {
  std::string_view contact, user;
  std::uint64_t times;
};

// Which of the pairs, given in the order of their contacts, stay.
Found taken(ContactLimit& limit, const std::vector<Pair>& pairs) {
  for (const Pair& each : pairs) limit.count(each.user, each.times);
  Found found;
  for (const Pair& each : pairs) {
    if (limit.takes(each.user, each.times)) found.push_back(std::string(each.contact) + " > " + std::string(each.user));
  }
  return found;
}

TEST_CASE("if a user has too many contacts, those stay to whom the user has written most often") {
  const std::vector<Pair> pairs = {{"a", "ann", 1}, {"a", "bob", 1}, {"b", "ann", 3}, {"c", "ann", 1},
                                   {"d", "ann", 2}, {"d", "bob", 1}, {"e", "ann", 1}};
  struct Case {
    std::uint64_t most;
    Found want;
    std::uint64_t left_out;
    std::vector<std::string> users;
  };
  const auto each = GENERATE(values<Case>({
      {1, {"a > bob", "b > ann"}, 5, {"ann", "bob"}},
      {2, {"a > bob", "b > ann", "d > ann", "d > bob"}, 3, {"ann"}},
      {3, {"a > ann", "a > bob", "b > ann", "d > ann", "d > bob"}, 2, {"ann"}},
      {4, {"a > ann", "a > bob", "b > ann", "c > ann", "d > ann", "d > bob"}, 1, {"ann"}},
      {5, {"a > ann", "a > bob", "b > ann", "c > ann", "d > ann", "d > bob", "e > ann"}, 0, {}},
      {0, {"a > ann", "a > bob", "b > ann", "c > ann", "d > ann", "d > bob", "e > ann"}, 0, {}},
  }));
  Sink sink;
  ContactLimit limit(each.most, sink);
  CAPTURE(each.most);
  CHECK(taken(limit, pairs) == each.want);
  CHECK(limit.left_out() == each.left_out);
  CHECK(limit.users() == each.users);
}

TEST_CASE("a user's address book that the operator has named has no limit") {
  Sink sink;
  ContactLimit limit(1, sink);
  limit.lift_limit("book.csv");
  CHECK(taken(limit, {{"a", "ann", 1}, {"a", "book.csv", 1}, {"b", "ann", 1}, {"b", "book.csv", 1}}) ==
        Found{"a > ann", "a > book.csv", "b > book.csv"});
}

struct Count : ContactSink {
  void add(std::string_view, std::string_view, const MessageMark&) override { ++count; }
  std::uint64_t count = 0;
};

TEST_CASE("past a bound a user's recipients are not kept, and others' are") {
  // Of one contact, of more than a 50th of the bound, and of a user or a caller without a limit.
  const auto [most, kept] = GENERATE(table<std::uint64_t, std::uint64_t>(
      {{1, ContactLimit::kMostRecipients}, {20'001, 50 * 20'001}, {0, ContactLimit::kMostRecipients + 60}}));
  CAPTURE(most);
  Count sink;
  ContactLimit limit(most, sink);
  limit.lift_limit("book");
  const std::uint64_t tried = std::max(kept, ContactLimit::kMostRecipients) + (most == 0 ? 0 : 2);
  for (std::uint64_t at = 0; at < tried; ++at) limit.add("joe", "ann", {});
  limit.add("joe", "bob", {});
  CHECK(sink.count == kept + 1);
  CHECK(limit.left_out() == tried - kept);
  CHECK(limit.users() == (most == 0 ? std::vector<std::string>() : std::vector<std::string>{"ann"}));
  if (most != 1) return;
  for (std::uint64_t at = 0; at < tried; ++at) limit.add("joe", "book", {});
  CHECK(sink.count == kept + 1 + tried);
}

}  // namespace
}  // namespace bloomgate
