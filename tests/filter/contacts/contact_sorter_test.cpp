#include "filter/contacts/contact_sorter.hpp"

#include <map>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Pairs = std::map<std::pair<std::string, std::string>, std::uint64_t>;

TEST_CASE_METHOD(test::InFolder, "pairs are sorted, each once with its count, from memory and from disk") {
  const std::uint64_t memory_bytes = GENERATE(1U, 2'000U, 800'000U, 100'000'000U);
  CAPTURE(memory_bytes);
  ContactSorter sorter(memory_bytes, folder.path());
  Pairs want;
  std::minstd_rand random(1);
  const int count = memory_bytes == 1 ? 200 : 20'000;
  for (int i = 0; i < count; ++i) {
    const std::string contact = "contact" + std::to_string(random() % 500) + "@example.org";
    const std::string user = "user" + std::to_string(random() % 9) + "@ours.example";
    sorter.add(contact, user);
    ++want[{contact, user}];
  }
  // One contact is the beginning of another.
  sorter.add("joe@example.com", "ann@ours.example");
  sorter.add("joe@example.co", "zoe@ours.example");
  ++want[{"joe@example.com", "ann@ours.example"}];
  ++want[{"joe@example.co", "zoe@ours.example"}];

  std::vector<Pairs::value_type> found;
  sorter.for_each([&](std::string_view contact, std::string_view user, std::uint64_t times) {
    found.push_back({{std::string(contact), std::string(user)}, times});
  });
  CHECK((sorter.spilled_bytes() != 0) == (memory_bytes < 800'000));
  const std::vector<Pairs::value_type> wanted(want.begin(), want.end());
  CHECK((found == wanted));
}

TEST_CASE_METHOD(test::InFolder, "a message counts once, however many sources show it") {
  constexpr bool kLogged = true;
  struct Case {
    std::string_view name;
    std::vector<MessageMark> marks;
    std::uint64_t want;
  };
  const MessageMark logged = mark_of("1@x", "", kLogged);
  const MessageMark sent = mark_of("1@x", "", !kLogged);
  const MessageMark logged_without = mark_of("", "mx 4F1", kLogged);
  const MessageMark sent_without = mark_of("", "Fri, 20 Nov", !kLogged);
  const MessageMark other = mark_of("2@x", "", !kLogged);
  const std::string long_id(79, 'x');
  const Case cases[] = {
      {"an address book, twice", {{}, {}}, 1},
      {"a log and a folder", {logged, sent}, 1},
      {"two logs and two folders", {sent, logged, sent, logged}, 1},
      {"the folder's copy has no Message-ID", {logged, sent_without}, 1},
      {"the log has no Message-ID", {logged_without, sent}, 1},
      {"neither has one", {logged_without, sent_without}, 1},
      {"two messages, of which the log has one", {logged, sent, other}, 2},
      {"two messages, one without a Message-ID", {sent, sent_without}, 2},
      {"two messages, one without a Message-ID, and the log has both", {sent, sent_without, logged, logged_without}, 2},
      {"two messages in a log, and an address book", {logged, logged_without, {}}, 2},
      {"a Message-ID that a log cuts", {mark_of(long_id, "a", kLogged), mark_of(long_id, "b", !kLogged)}, 1},
      {"a Message-ID beyond ASCII", {mark_of("\xc3\xb6@x", "a", kLogged), mark_of("??@x", "b", !kLogged)}, 1},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    for (const std::uint64_t memory_bytes : {1U, 100'000U}) {
      ContactSorter sorter(memory_bytes, folder.path(), true);
      // One user is the beginning of another.
      for (const char* const user : {"ann@a.example", "ann@a.example.org", "ann@a.exampl"}) {
        for (const MessageMark& mark : each.marks) sorter.add("joe@example.org", user, mark);
      }
      std::vector<std::uint64_t> found;
      sorter.for_each([&](std::string_view, std::string_view, std::uint64_t times) { found.push_back(times); });
      CHECK(found == std::vector<std::uint64_t>(3, each.want));
    }
  }
}

TEST_CASE("an error names the folder that has no room for what exceeds memory") {
  ContactSorter sorter(1, "/nowhere");
  sorter.add("joe@example.org", "ann@ours.example");
  CHECK_THROWS_WITH(sorter.add("bob@example.org", "ann@ours.example"), Catch::Contains("/nowhere"));
}

}  // namespace
}  // namespace bloomgate
