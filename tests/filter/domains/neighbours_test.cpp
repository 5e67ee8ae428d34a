#include "filter/domains/neighbours.hpp"

#include <set>
#include <string>

#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// Of a line of a list; the sign between the sides of a pair as `>`.
std::string neighbours_of(std::string_view line) {
  const Entry entry = canonicalize_list_line(line);
  REQUIRE(entry.is_key());
  std::string key(neighbours_key(entry.key()).view());
  if (const std::size_t at = key.find(kPairSeparator); at != std::string::npos) key[at] = '>';
  return key;
}

TEST_CASE("an entry shares everything with its neighbours except the name that distinguishes them") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"joe@example.org", "@example.org"},
      {"\"a@b signed-by c.example\"@example.org", "@example.org"},
      {"joe@[192.0.2.1]", "@[192.0.2.1]"},
      {"joe@example.org > ann@ours.example", "@example.org"},
      {"joe@example.org > @ours.example", "@example.org"},
      {"@example.org > ann@ours.example", "@example.org>"},
      {"@.example.org > @ours.example", "@.example.org>"},
      {"joe@example.org signed-by esp.example", "@example.org signed-by esp.example"},
      {"list:news.lists.example", "list:*.lists.example"},
      {"list:news.lists.example > ann@ours.example", "list:*.lists.example"},
      {"list:*.lists.example > ann@ours.example", "list:*.lists.example"},
      {"list:news.lists.example signed-by esp.example", "list:*.lists.example signed-by esp.example"},
      // These list all of their neighbours themselves.
      {"@example.org", ""},
      {"@.example.org", ""},
      {"list:*.lists.example", ""},
      {"@example.org signed-by esp.example", ""},
      {"@.example.org signed-by esp.example", ""},
      {"list:*.lists.example signed-by esp.example", ""},
  };
  for (const auto& [line, want] : rows) {
    CAPTURE(line);
    CHECK(neighbours_of(line) == want);
  }
}

struct Known {
  std::set<std::string, std::less<>> keys;

  explicit Known(std::string_view line)
      : keys{std::string(neighbours_key(canonicalize_list_line(line).key()).view())} {}
  auto contains() const {
    return [this](std::string_view key) { return keys.contains(key); };
  }
  bool have(std::string_view line) const {
    return has_neighbours(canonicalize_list_line(line).key(), true, contains());
  }
  bool have(std::string_view line, std::string_view signer) const {
    return has_neighbours_with_signer(canonicalize_list_line(line).key(), signer, contains());
  }
};

TEST_CASE("neighbours are found if an entry lists one of them, or for one recipient, or with that signer") {
  const Known address("joe@example.org");
  CHECK(address.have("joe@example.org"));
  CHECK(address.have("neighbour@example.org"));
  CHECK_FALSE(address.have("joe@news.example.org"));
  CHECK_FALSE(address.have("joe@org"));
  CHECK_FALSE(address.have("list:example.org"));
  const Known tree("@.example.org > ann@ours.example");
  CHECK(tree.have("anybody@example.org"));
  CHECK(tree.have("anybody@a.b.example.org"));
  CHECK_FALSE(tree.have("anybody@other.example"));
  const Known list("list:news.lists.example");
  CHECK(list.have("list:other.lists.example"));
  CHECK_FALSE(list.have("list:other.example"));
  CHECK_FALSE(list.have("joe@lists.example"));
  const Known signer("joe@example.org signed-by esp.example");
  CHECK(signer.have("neighbour@example.org", "esp.example"));
  CHECK_FALSE(signer.have("neighbour@example.org", "other.example"));
  CHECK_FALSE(signer.have("joe@other.example", "esp.example"));
  CHECK_FALSE(signer.have("joe@example.org"));
  const Known list_with_signer("list:news.lists.example signed-by esp.example");
  CHECK(list_with_signer.have("list:other.lists.example", "esp.example"));
  CHECK_FALSE(list_with_signer.have("list:other.lists.example", "lists.example"));
}

TEST_CASE("without pairs that have domains an address costs one question") {
  unsigned questions = 0;
  const auto no = [&](std::string_view) { return ++questions == 0; };
  CHECK_FALSE(has_neighbours("joe@a.b.c.d.example", false, no));
  CHECK(questions == 1);
  const auto host = [](std::string_view key) { return key == "list:*.lists.example"; };
  CHECK(has_neighbours("list:news.lists.example", false, host));  // a mailing list has others
}

TEST_CASE("the longest key fits") {
  const std::string host = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." +
                           std::string(50, 'd') + ".example";
  const Entry entry = canonicalize_list_line("list:news." + host.substr(5) + " signed-by " + host);
  REQUIRE(entry.is_key());
  CHECK_FALSE(neighbours_key(entry.key()).overflowed());
}

}  // namespace
}  // namespace bloomgate
