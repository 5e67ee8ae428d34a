#include "filter/ingest/except_list.hpp"

#include <atomic>
#include <fstream>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

struct Fixture {
  ExceptList read(const std::string& text) {
    std::ofstream(folder.file("list")) << text;
    return {{folder.file("list")}, {}, stop};
  }
  test::TemporaryFolder folder;
  std::atomic<bool> stop{false};
};

TEST_CASE_METHOD(Fixture, "an entry is left out by itself, by its domain, or by a domain above it") {
  const ExceptList list = read("# gone\nJoe@Example.org\n@gone.example\n@.tree.example\n\"a@b\"@example.org\n");
  CHECK_FALSE(list.empty());
  for (const char* key : {"joe@example.org", "@gone.example", "ann@gone.example", "@.tree.example", "ann@tree.example",
                          "ann@a.b.tree.example", "@tree.example", "@a.tree.example", "@.a.tree.example",
                          "\"a@b\"@example.org", "\"@\"@gone.example"}) {
    CAPTURE(key);
    CHECK(list.has(key));
  }
  for (const char* key : {"bob@example.org", "joe@example.orgx", "@example.org", "@.example.org",
                          "ann@sub.gone.example", "@.gone.example", "ann@xtree.example", "@.example", "joe@example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has(key));
  }
}

TEST_CASE_METHOD(Fixture, "an except list without domain entries leaves out addresses only") {
  const ExceptList list = read("joe@example.org\n");
  CHECK(list.has("joe@example.org"));
  CHECK_FALSE(list.has("bob@example.org"));
  CHECK(ExceptList().empty());
  CHECK_FALSE(ExceptList().has("joe@example.org"));
}

TEST_CASE_METHOD(Fixture,
                 "a pair is left out by itself, by a wider pair, and by any entry that leaves its sender out") {
  const ExceptList list =
      read("joe@example.org > ann@ours.example\n@.evil.example > @ours.example\ngone@example.org\n@gone.example\n");
  CHECK(list.has_senders());
  CHECK(list.has_domains());
  for (const char* key :
       {"joe@example.org\nann@ours.example", "jim@a.evil.example\nann@ours.example", "@.a.evil.example\n@ours.example",
        "@.evil.example\n@ours.example", "gone@example.org\nann@ours.example", "jim@gone.example\n@.ours.example"}) {
    CAPTURE(key);
    CHECK(list.has(key));
  }
  for (const char* key :
       {"joe@example.org", "joe@example.org\nbob@ours.example", "joe@example.org\n@ours.example",
        "jim@a.evil.example\nann@mail.ours.example", "jim@example.org\ngone@example.org", "ann@ours.example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has(key));
  }
  CHECK_FALSE(read("joe@example.org > ann@ours.example\n").has_senders());
}

TEST_CASE_METHOD(Fixture, "an excepted address or domain also leaves out its entries with a signer") {
  const ExceptList list = read("joe@example.org\n@gone.example\n@.tree.example\n");
  for (const char* key : {"joe@example.org signed-by esp.example", "ann@gone.example signed-by esp.example",
                          "@gone.example signed-by esp.example", "@.a.tree.example signed-by esp.example"}) {
    CAPTURE(key);
    CHECK(list.has(key));
  }
  for (const char* key : {"bob@example.org signed-by esp.example", "@example.org signed-by esp.example",
                          "bob@example.org signed-by gone.example", "bob@example.org signed-by tree.example",
                          "\"joe@example.org signed-by b\"@example.com", "list:gone.example",
                          "list:a.tree.example signed-by x.example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has(key));
  }
  // Without a domain in the list, too.
  const ExceptList addresses = read("joe@example.org\n");
  CHECK(addresses.has("joe@example.org signed-by esp.example"));
  CHECK_FALSE(addresses.has("bob@example.org signed-by esp.example"));
}

TEST_CASE_METHOD(Fixture, "an excepted entry with a signer leaves out narrower ones with that signer, and no other") {
  const ExceptList list = read(
      "joe@example.org signed-by esp.example\n@.bank.example signed-by esp.example\n"
      "list:*.lists.example signed-by esp.example\n");
  CHECK(list.has_domains());
  for (const char* key : {"joe@example.org signed-by esp.example", "ann@mail.bank.example signed-by esp.example",
                          "@bank.example signed-by esp.example", "list:a.lists.example signed-by esp.example"}) {
    CAPTURE(key);
    CHECK(list.has(key));
  }
  for (const char* key :
       {"joe@example.org", "joe@example.org signed-by other.example", "joe@example.org signed-by mail.esp.example",
        "@example.org signed-by esp.example", "ann@bank.example", "@.bank.example", "list:a.lists.example",
        "list:*.lists.example", "joe@example.org\nann@ours.example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has(key));
  }
}

TEST_CASE_METHOD(Fixture, "an excepted mailing list leaves out its pairs and its entries with a signer") {
  const ExceptList list = read("list:a.example\nlist:*.lists.example\nlist:b.example > @ours.example\n");
  for (const char* key : {"list:a.example", "list:a.example\nann@ours.example", "list:a.example signed-by esp.example",
                          "list:x.lists.example", "list:*.lists.example", "list:*.deep.lists.example",
                          "list:x.lists.example\n@ours.example", "list:x.lists.example signed-by esp.example",
                          "list:b.example\nann@ours.example"}) {
    CAPTURE(key);
    CHECK(list.has(key));
  }
  for (const char* key : {"list:x.a.example", "list:lists.example", "list:*.a.example", "list:b.example",
                          "list:b.example\nann@else.example", "joe@a.example", "@x.lists.example", "@.lists.example",
                          "joe@x.lists.example signed-by esp.example"}) {
    CAPTURE(key);
    CHECK_FALSE(list.has(key));
  }
}

TEST_CASE_METHOD(Fixture, "an invalid line is refused with its place") {
  CHECK_THROWS_WITH(read("joe@example.org\n\nnobody\n"), Catch::Contains("list:3: "));
  CHECK_THROWS_AS(read("nobody\n"), BloomgateError);
  // Behind the first block, too.
  std::string blocks;
  for (int i = 0; i < 30'000; ++i) blocks += "user" + std::to_string(i) + "@example.org\n";
  CHECK_THROWS_WITH(read(blocks + "nobody\n"), Catch::Contains("list:30001: "));
}

}  // namespace
}  // namespace bloomgate
