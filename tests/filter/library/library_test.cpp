// The C interface, against the rooms that it stands on: filter/library/bloomgate.h.
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "filter/hash/hash.hpp"
#include "tests/filter/library/library_calls.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(source_folder()) / "tests";

TEST_CASE_METHOD(Library, "an address is listed by itself, by its domain, by a domain above it, or not at all") {
  const Filter filter = built({"joe@example.org", "@partner.example", "@.tree.example"});
  CHECK(look_up(filter, "joe@example.org") == BLOOMGATE_LISTED);
  CHECK(look_up(filter, "<Joe@EXAMPLE.org>") == BLOOMGATE_LISTED);
  CHECK(look_up(filter, "ann@partner.example") == BLOOMGATE_BY_DOMAIN);
  CHECK(look_up(filter, "ann@sub.partner.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up(filter, "ann@a.b.tree.example") == BLOOMGATE_BY_DOMAIN_TREE);
  CHECK(look_up(filter, "ann@stranger.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up(filter, "<>") == BLOOMGATE_NULL_SENDER);
  for (const std::string text : {"joe", "joe@", "@example.org", "joe@example.org\n", "", "a b@c.example",
                                 "\xff@x.example", "@partner.example"}) {
    CAPTURE(text);
    CHECK(bloomgate_is_listed(look_up(filter, text)) == 0);
  }
  CHECK(look_up(filter, std::string("joe@example.org\0", 16)) == BLOOMGATE_MALFORMED);
  CHECK(look_up(filter, std::string(1 << 20, 'a') + "@example.org") == BLOOMGATE_MALFORMED);
}

TEST_CASE_METHOD(Library,
                 "a pair lists a sender for its recipient only, and an entry of a list is looked up as written there") {
  const Filter filter = built({"joe@example.org > ann@ours.example", "@partner.example > @ours.example",
                               "all@example.org", "@open.example", "@.tree.example"});
  CHECK(number(filter, BLOOMGATE_PAIRS) == 1);
  CHECK(look_up(filter, "joe@example.org") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_pair(filter, "<joe@example.org>", "<ANN@ours.example>") == BLOOMGATE_BY_PAIR);
  CHECK(look_up_pair(filter, "joe@example.org", "bob@ours.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_pair(filter, "x@partner.example", "bob@ours.example") == BLOOMGATE_BY_PAIR);
  CHECK(look_up_pair(filter, "x@partner.example", "bob@theirs.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_pair(filter, "all@example.org", "bob@theirs.example") == BLOOMGATE_LISTED);
  CHECK(look_up_pair(filter, "x@open.example", "nonsense") == BLOOMGATE_BY_DOMAIN);
  CHECK(look_up_pair(filter, "joe@example.org", "nonsense") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_pair(filter, "<>", "ann@ours.example") == BLOOMGATE_NULL_SENDER);
  CHECK(look_up_pair(filter, "nonsense", "ann@ours.example") == BLOOMGATE_MALFORMED);
  CHECK(look_up_entry(filter, "joe@example.org > ann@ours.example") == BLOOMGATE_BY_PAIR);
  CHECK(look_up_entry(filter, "all@example.org > ann@ours.example") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "@partner.example > @ours.example") == BLOOMGATE_BY_PAIR);
  CHECK(look_up_entry(filter, "@partner.example > @theirs.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "@.tree.example > @theirs.example") == BLOOMGATE_BY_DOMAIN_TREE);
  CHECK(look_up_entry(filter, "@open.example") == BLOOMGATE_BY_DOMAIN);
  CHECK(look_up_entry(filter, "@partner.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "all@example.org") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "# all@example.org") == BLOOMGATE_MALFORMED);
}

TEST_CASE_METHOD(Library,
                 "a mailing list is an entry that is listed by itself, by a host above it, or for a recipient") {
  const Filter filter = built({"list:a.example.org", "list:*.lists.example.org",
                               "list:*.example.net > ann@ours.example", "@.example.org", "joe@lists.example.com"});
  CHECK(number(filter, BLOOMGATE_DOMAINS) == 4);
  CHECK(number(filter, BLOOMGATE_ADDRESSES) == 1);
  CHECK(look_up_entry(filter, "LIST:A.example.org") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "list:x.lists.example.org") == BLOOMGATE_BY_MAILING_LIST_TREE);
  CHECK(look_up_entry(filter, "list:*.lists.example.org") == BLOOMGATE_BY_MAILING_LIST_TREE);
  CHECK(look_up_entry(filter, "list:lists.example.org") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "list:x.example.net") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "list:x.example.net > ann@ours.example") == BLOOMGATE_BY_PAIR);
  CHECK(look_up_entry(filter, "list:x.example.net > bob@ours.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "list:a.example.org > bob@ours.example") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "list:x.lists.example.org > @ours.example") == BLOOMGATE_BY_MAILING_LIST_TREE);
  CHECK(look_up_entry(filter, "joe@lists.example.com > @ours.example") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "list:a@example.org") == BLOOMGATE_MALFORMED);
  // A mail server has no such address.
  CHECK(look_up(filter, "list:a.example.org") == BLOOMGATE_MALFORMED);
  CHECK(bloomgate_is_listed(BLOOMGATE_BY_MAILING_LIST_TREE) != 0);
}

TEST_CASE_METHOD(Library, "an entry with a signer is listed by a wider one with that signer, and by nothing else") {
  const Filter filter =
      built({"billing@bank.example signed-by esp.example", "@shop.example signed-by esp.example",
             "@.tree.example signed-by esp.example", "list:*.lists.example signed-by esp.example", "ann@example.org"});
  CHECK(look_up_entry(filter, "Billing@bank.example signed-by ESP.example") == BLOOMGATE_LISTED);
  CHECK(look_up_entry(filter, "joe@shop.example signed-by esp.example") == BLOOMGATE_BY_DOMAIN);
  CHECK(look_up_entry(filter, "joe@a.tree.example signed-by esp.example") == BLOOMGATE_BY_DOMAIN_TREE);
  CHECK(look_up_entry(filter, "list:a.lists.example signed-by esp.example") == BLOOMGATE_BY_MAILING_LIST_TREE);
  CHECK(look_up_entry(filter, "joe@shop.example signed-by other.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "ann@example.org signed-by example.org") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "billing@bank.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_entry(filter, "billing@bank.example signed-by") == BLOOMGATE_MALFORMED);
  CHECK(look_up(filter, "billing@bank.example") == BLOOMGATE_NOT_LISTED);
  CHECK(look_up_pair(filter, "billing@bank.example", "ann@ours.example") == BLOOMGATE_NOT_LISTED);
}

TEST_CASE("an excluded sender is reported as excluded by every kind of look-up") {
  const Filter filter = opened((kTests / "golden/excluded.bloom").string());
  REQUIRE(number(filter, BLOOMGATE_KNOWN_STRANGERS) > 0);
  std::ifstream lines(kTests / "golden/not.txt");
  std::vector<std::string> strangers;
  for (std::string line; std::getline(lines, line);) strangers.push_back(line);
  std::uint64_t excluded = 0;
  std::vector<std::uint8_t> want;
  for (const std::string& stranger : strangers) {
    want.push_back(look_up(filter, stranger));
    excluded += want.back() == BLOOMGATE_EXCLUDED ? 1U : 0U;
  }
  CHECK(excluded == number(filter, BLOOMGATE_KNOWN_STRANGERS));
  const Texts<std::int32_t> texts(strangers);
  std::vector<std::uint8_t> answers(strangers.size(), 255);
  REQUIRE(bloomgate_look_up_column32(filter.get(), texts.data.data(), texts.data.size(), texts.offsets.data(),
                                     strangers.size(), answers.data()) == BLOOMGATE_OK);
  CHECK(answers == want);
}

TEST_CASE_METHOD(Library, "an excluded pair is reported as excluded, unless its sender is listed for all") {
  std::vector<std::string> not_lines;
  for (int i = 0; i < 500; ++i) not_lines.push_back("x" + std::to_string(i) + "@b.example > ann@ours.example");
  auto lines = numbered_addresses(0, 10'000);
  lines.emplace_back("friend@b.example > ann@ours.example");
  build_with_strangers(folder.file("f"), lines, not_lines, {.hashes = 1, .seed = 42});
  const Filter filter = opened(folder.file("f"));
  std::uint64_t excluded = 0;
  for (const std::string& line : not_lines) {
    const std::string sender = line.substr(0, line.find(' '));
    const std::uint8_t answer = look_up_entry(filter, line);
    CHECK(answer == look_up_pair(filter, sender, "ann@ours.example"));
    CHECK(answer != BLOOMGATE_BY_PAIR);
    CHECK(bloomgate_is_listed(answer) == bloomgate_is_listed(look_up(filter, sender)));
    excluded += answer == BLOOMGATE_EXCLUDED ? 1U : 0U;
  }
  CHECK(excluded > 0);
}

TEST_CASE_METHOD(Library, "bulk look-ups give the results of single ones, in every form") {
  auto members = numbered_addresses(0, 1'000);
  members.insert(members.end(), {"@partner.example", "@.tree.example"});
  const Filter filter = built(members);
  auto asked = numbered_addresses(800, 400);
  for (std::size_t i = 0; i < asked.size(); i += 7) asked[i] = "ann" + std::to_string(i) + "@partner.example";
  for (std::size_t i = 3; i < asked.size(); i += 11) asked[i] = i % 2 == 0 ? "" : "not an address";
  for (std::size_t i = 5; i < asked.size(); i += 13) asked[i] = "<>";
  std::vector<std::uint8_t> want;
  std::vector<const char*> pointers;
  std::vector<std::size_t> sizes;
  std::size_t width = 0;
  for (const std::string& text : asked) {
    want.push_back(look_up(filter, text));
    pointers.push_back(text.data());
    sizes.push_back(text.size());
    width = std::max(width, text.size());
  }
  std::vector<std::uint8_t> answers(asked.size(), 255);
  REQUIRE(bloomgate_look_up_many(filter.get(), pointers.data(), sizes.data(), asked.size(), answers.data()) ==
          BLOOMGATE_OK);
  CHECK(answers == want);
  const Texts<std::int32_t> small(asked);
  answers.assign(asked.size(), 255);
  REQUIRE(bloomgate_look_up_column32(filter.get(), small.data.data(), small.data.size(), small.offsets.data(),
                                     asked.size(), answers.data()) == BLOOMGATE_OK);
  CHECK(answers == want);
  const Texts<std::int64_t> large(asked);
  answers.assign(asked.size(), 255);
  // A piece out of the middle, as a slice of a column is.
  REQUIRE(bloomgate_look_up_column64(filter.get(), large.data.data(), large.data.size(), large.offsets.data() + 100,
                                     200, answers.data() + 100) == BLOOMGATE_OK);
  CHECK(std::equal(answers.begin() + 100, answers.begin() + 300, want.begin() + 100));
  CHECK(answers[99] == 255);
  CHECK(answers[300] == 255);
  std::string fixed;
  for (const std::string& text : asked) fixed += text + std::string(width - text.size(), '\0');
  answers.assign(asked.size(), 255);
  REQUIRE(bloomgate_look_up_fixed(filter.get(), fixed.data(), width, asked.size(), answers.data()) == BLOOMGATE_OK);
  CHECK(answers == want);
}

TEST_CASE_METHOD(Library, "an invalid column is refused, and none of its addresses is listed") {
  const Filter filter = built({"joe@example.org"});
  const std::string data = "joe@example.orgjoe@example.org";
  struct Row {
    const char* name;
    std::vector<std::int64_t> offsets;
    std::size_t bytes;
  };
  for (const Row& row : {Row{"past the end", {0, 15, 31}, 30}, Row{"less data than said", {0, 15, 30}, 29},
                         Row{"negative", {-1, 15, 30}, 30}, Row{"falling", {0, 16, 15}, 30},
                         Row{"falling below zero", {0, 15, std::numeric_limits<std::int64_t>::min()}, 30},
                         Row{"largest", {0, 15, std::numeric_limits<std::int64_t>::max()}, 30},
                         Row{"over the end and back", {0, 40, 30}, 30}}) {
    CAPTURE(row.name);
    std::vector<std::uint8_t> answers(2, BLOOMGATE_LISTED);
    CHECK(bloomgate_look_up_column64(filter.get(), data.data(), row.bytes, row.offsets.data(), 2, answers.data()) ==
          BLOOMGATE_BAD_ARGUMENT);
    CHECK(answers == std::vector<std::uint8_t>(2, BLOOMGATE_NOT_LISTED));
  }
  std::uint8_t answer = BLOOMGATE_LISTED;
  CHECK(bloomgate_look_up_fixed(filter.get(), data.data(), SIZE_MAX, 0, nullptr) == BLOOMGATE_OK);
  CHECK(bloomgate_look_up_column32(filter.get(), nullptr, 0, nullptr, 0, nullptr) == BLOOMGATE_OK);
  CHECK(bloomgate_look_up_many(filter.get(), nullptr, nullptr, 0, nullptr) == BLOOMGATE_OK);
  CHECK(bloomgate_look_up_fixed(filter.get(), nullptr, 0, 1, &answer) == BLOOMGATE_OK);
  CHECK(answer == BLOOMGATE_MALFORMED);
}

TEST_CASE_METHOD(Library, "a null pointer is refused by its name, and nothing is listed") {
  const Filter filter = built({"joe@example.org"});
  constexpr const char* kText = "joe@example.org";
  constexpr std::size_t kBytes = 15;
  const char* const texts[] = {kText, nullptr};
  const std::int32_t offsets[] = {0, kBytes};
  std::array<std::uint8_t, 2> answers = {};
  std::uint64_t number = 0;
  char key[BLOOMGATE_MAX_KEY_BYTES];
  std::size_t bytes[] = {kBytes, kBytes};
  int kind = 0;
  bloomgate_filter* other = nullptr;
  const auto check = [&](const std::string& name, auto call) {
    CAPTURE(name);
    answers.fill(BLOOMGATE_LISTED);
    CHECK(call(filter.get(), answers.data()) == BLOOMGATE_BAD_ARGUMENT);
    CHECK(bloomgate_last_error() == name + " is a null pointer");
    CHECK((answers[0] == BLOOMGATE_NOT_LISTED || answers[1] == BLOOMGATE_LISTED));
  };
  using Handle = const bloomgate_filter*;
  check("filter", [&](Handle, auto* to) { return bloomgate_look_up(nullptr, kText, kBytes, to); });
  check("address", [&](Handle of, auto* to) { return bloomgate_look_up(of, nullptr, 3, to); });
  check("answers", [&](Handle of, auto*) { return bloomgate_look_up(of, kText, kBytes, nullptr); });
  check("sender", [&](Handle of, auto* to) { return bloomgate_look_up_pair(of, nullptr, 1, kText, kBytes, to); });
  check("recipient", [&](Handle of, auto* to) { return bloomgate_look_up_pair(of, kText, kBytes, nullptr, 1, to); });
  check("entry", [&](Handle of, auto* to) { return bloomgate_look_up_entry(of, nullptr, 1, to); });
  check("addresses", [&](Handle of, auto* to) { return bloomgate_look_up_many(of, nullptr, bytes, 2, to); });
  check("bytes", [&](Handle of, auto* to) { return bloomgate_look_up_many(of, texts, nullptr, 2, to); });
  check("an address", [&](Handle of, auto* to) { return bloomgate_look_up_many(of, texts, bytes, 2, to); });
  check("offsets", [&](Handle of, auto* to) { return bloomgate_look_up_column32(of, kText, kBytes, nullptr, 1, to); });
  check("data", [&](Handle of, auto* to) { return bloomgate_look_up_column32(of, nullptr, kBytes, offsets, 1, to); });
  check("data", [&](Handle of, auto* to) { return bloomgate_look_up_fixed(of, nullptr, kBytes, 1, to); });
  check("filter", [&](Handle, auto*) { return bloomgate_check(nullptr); });
  check("filter", [&](Handle, auto*) { return bloomgate_number(nullptr, BLOOMGATE_SEED, &number); });
  check("number", [&](Handle of, auto*) { return bloomgate_number(of, BLOOMGATE_SEED, nullptr); });
  check("filter", [&](Handle, auto*) { return bloomgate_hash_key(nullptr, kText, kBytes, &number); });
  check("hash", [&](Handle of, auto*) { return bloomgate_hash_key(of, kText, kBytes, nullptr); });
  check("key", [&](Handle of, auto*) { return bloomgate_hash_key(of, nullptr, kBytes, &number); });
  check("path", [&](Handle, auto*) { return bloomgate_open(nullptr, 1, 0, &other); });
  const auto canonicalize = [&](Handle of, const char* text, char* to, std::size_t* size, int* what) {
    return bloomgate_canonicalize_address(of, text, kBytes, to, sizeof key, size, what, nullptr);
  };
  check("filter", [&](Handle, auto*) { return canonicalize(nullptr, kText, key, bytes, &kind); });
  check("text", [&](Handle of, auto*) { return canonicalize(of, nullptr, key, bytes, &kind); });
  check("key", [&](Handle of, auto*) { return canonicalize(of, kText, nullptr, bytes, &kind); });
  check("key_bytes", [&](Handle of, auto*) { return canonicalize(of, kText, key, nullptr, &kind); });
  check("kind", [&](Handle of, auto*) { return canonicalize(of, kText, key, bytes, nullptr); });
  CHECK(canonicalize(filter.get(), kText, key, bytes, &kind) == BLOOMGATE_OK);
  CHECK(bloomgate_text(nullptr, BLOOMGATE_LAYOUT) == nullptr);
  CHECK(bloomgate_expected_rate(nullptr) == 1);
}

TEST_CASE("what a process has too little of is refused with its code") {
  const std::string path = (kTests / "golden/addresses.bloom").string();
  std::vector<Filter> open;
  for (int i = 0; i < 256; ++i) open.push_back(opened(path, 0));
  CHECK(open_error(path, 0) == BLOOMGATE_TOO_MANY_MAPPINGS);
  open.pop_back();
  CHECK(open_error(path, 0) == BLOOMGATE_OK);
  bloomgate_filter* filter = nullptr;
  // Longer than any text can be.
  CHECK(bloomgate_open("x", SIZE_MAX, 0, &filter) == BLOOMGATE_LIBRARY_FAILED);
  CHECK_FALSE(std::string(bloomgate_last_error()).empty());
  if (kIsSanitized) return;  // a sanitizer ends the process instead
  CHECK(bloomgate_open("x", std::size_t{1} << 60, 0, &filter) == BLOOMGATE_OUT_OF_MEMORY);
  CHECK(std::string(bloomgate_last_error()) == "out of memory");
}

TEST_CASE_METHOD(Library, "the width of a column times its length must fit in memory") {
  const Filter filter = built({"joe@example.org"});
  // Answers to so many would not fit either: so the check must come before they are written, and there are few of them.
  std::vector<std::uint8_t> answers(2, BLOOMGATE_LISTED);
  CHECK(bloomgate_look_up_fixed(filter.get(), "x", SIZE_MAX, 2, answers.data()) == BLOOMGATE_BAD_ARGUMENT);
  CHECK(answers == std::vector<std::uint8_t>(2, BLOOMGATE_NOT_LISTED));
}

TEST_CASE("every malformed file of the corpus is refused with its code, and the last error says more") {
  std::istringstream table(read_file(kTests / "bad/expected.tsv"));
  std::size_t count = 0;
  for (std::string name, code; table >> name >> code; ++count) {
    CAPTURE(name);
    const int error = open_error((kTests / "bad" / name).string());
    CHECK(bloomgate_error_name(error) == code);
    CHECK(std::string(bloomgate_last_error()).find(name) != std::string::npos);
  }
  CHECK(count > 100);
}

TEST_CASE("every golden file opens, and its figures are those of its header") {
  for (const auto& file : fs::directory_iterator(kTests / "golden")) {
    if (file.path().extension() != ".bloom") continue;
    CAPTURE(file.path());
    const Filter filter = opened(file.path().string());
    CHECK(number(filter, BLOOMGATE_FILE_BYTES) == fs::file_size(file.path()));
  }
  const Filter filter = opened((kTests / "golden/tag-separators.bloom").string(), 0);
  CHECK(number(filter, BLOOMGATE_SEED) == 1);
  CHECK(number(filter, BLOOMGATE_HASHES) == 6);
  CHECK(number(filter, BLOOMGATE_BLOCK_BYTES) == 4096);
  CHECK(number(filter, BLOOMGATE_BLOCK_COUNT) == 1);
  CHECK(number(filter, BLOOMGATE_KEEPS_CASE) == 0);
  CHECK(number(opened((kTests / "golden/keep-case.bloom").string(), 0), BLOOMGATE_KEEPS_CASE) == 1);
  CHECK(number(filter, BLOOMGATE_BITS_SET) > 0);
  CHECK(std::string(bloomgate_text(filter.get(), BLOOMGATE_LAYOUT)) == "page");
  CHECK(std::string(bloomgate_text(filter.get(), BLOOMGATE_HASH_FAMILY)) == "xxh3");
  CHECK(std::string(bloomgate_text(filter.get(), BLOOMGATE_TAG_SEPARATORS)) == "+-");
  CHECK(std::string(bloomgate_text(filter.get(), BLOOMGATE_IDENTITY)).size() == 16);
  CHECK(bloomgate_text(filter.get(), 99) == nullptr);
  CHECK(bloomgate_expected_rate(filter.get()) < 0.1);
  std::uint64_t value = 7;
  CHECK(bloomgate_number(filter.get(), 99, &value) == BLOOMGATE_BAD_ARGUMENT);
  CHECK(value == 7);
}

TEST_CASE_METHOD(Library, "a path that is not a file, unknown flags and a name with a NUL are refused") {
  build_filter(folder.file("f"), {"joe@example.org"});
  CHECK(open_error(folder.file("missing")) == BLOOMGATE_CANNOT_OPEN);
  CHECK(open_error(folder.path().string()) == BLOOMGATE_NOT_A_REGULAR_FILE);
  CHECK(open_error("") == BLOOMGATE_CANNOT_OPEN);
  CHECK(open_error(folder.file("f") + std::string(1, '\0') + "x") == BLOOMGATE_BAD_ARGUMENT);
  CHECK(open_error(folder.file("f"), 2 | BLOOMGATE_VERIFY) == BLOOMGATE_BAD_ARGUMENT);
  CHECK(std::string(bloomgate_last_error()) == "bloomgate_open() knows no flags 2");
  CHECK(bloomgate_open("x", 1, 0, nullptr) == BLOOMGATE_BAD_ARGUMENT);
  bloomgate_close(nullptr);
  // The header alone tells nothing of damage to the bits.
  CHECK(open_error((kTests / "bad/body-first-bit.bloom").string(), 0) == BLOOMGATE_OK);
}

TEST_CASE_METHOD(Library, "after a write to the file no look-up is trusted") {
  const Filter filter = built({"joe@example.org"});
  CHECK(bloomgate_check(filter.get()) == BLOOMGATE_OK);
  fs::last_write_time(folder.file("f"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  std::vector<std::uint8_t> answers(2, BLOOMGATE_LISTED);
  CHECK(bloomgate_look_up(filter.get(), "joe@example.org", 15, answers.data()) == BLOOMGATE_CHANGED_WHILE_OPEN);
  CHECK(answers[0] == BLOOMGATE_NOT_LISTED);
  CHECK(bloomgate_check(filter.get()) == BLOOMGATE_CHANGED_WHILE_OPEN);
  // Renaming another over it is what everybody does.
  build_filter(folder.file("g"), {"ann@example.org"});
  const Filter other = opened(folder.file("g"));
  build_filter(folder.file("g"), {"bob@example.org"});
  CHECK(look_up(other, "ann@example.org") == BLOOMGATE_LISTED);
}

TEST_CASE_METHOD(Library, "a file that becomes shorter lists no sender, if the program handles bus faults") {
  REQUIRE(bloomgate_survive_bus_faults() == BLOOMGATE_OK);
  const Filter filter = built({"joe@example.org"});
  fs::resize_file(folder.file("f"), 0);
  std::uint8_t answer = BLOOMGATE_LISTED;
  CHECK(bloomgate_look_up(filter.get(), "joe@example.org", 15, &answer) == BLOOMGATE_CHANGED_WHILE_OPEN);
  CHECK(answer == BLOOMGATE_NOT_LISTED);
}

TEST_CASE_METHOD(Library, "keys are made by the file's profile, and an address without a key has a reason") {
  const Filter filter =
      built({"joe@example.org"},
            {.expected_entries = 1'000, .seed = 42, .profile = {.tag_separators = *TagSeparators::parse("+")}});
  CHECK(number(filter, BLOOMGATE_EXPECTED_ENTRIES) == 1'000);
  char key[BLOOMGATE_MAX_KEY_BYTES];
  std::size_t bytes = 0;
  int kind = -1;
  const char* reason = nullptr;
  const auto address = [&](const std::string& text, std::size_t room = sizeof key) {
    return bloomgate_canonicalize_address(filter.get(), text.data(), text.size(), key, room, &bytes, &kind, &reason);
  };
  const auto entry = [&](const std::string& text) {
    REQUIRE(bloomgate_canonicalize_entry(filter.get(), text.data(), text.size(), key, sizeof key, &bytes, &kind,
                                         &reason) == BLOOMGATE_OK);
    return std::string(key, bytes);
  };
  REQUIRE(address("<JOE+news@Bücher.example>") == BLOOMGATE_OK);
  CHECK(std::string(key, bytes) == "joe@xn--bcher-kva.example");
  CHECK(kind == BLOOMGATE_KIND_ADDRESS);
  CHECK(address("joe@example.org", 14) == BLOOMGATE_BAD_ARGUMENT);
  CHECK(bytes == 15);
  CHECK(address("joe@example.org", 15) == BLOOMGATE_OK);
  REQUIRE(address("joe") == BLOOMGATE_OK);
  CHECK(kind == BLOOMGATE_KIND_REJECTED);
  CHECK(bytes == 0);
  CHECK(std::string(reason) == "missing-at-sign");
  REQUIRE(address("<>") == BLOOMGATE_OK);
  CHECK(kind == BLOOMGATE_KIND_NULL_SENDER);
  CHECK(entry("@Example.ORG") == "@example.org");
  CHECK(kind == BLOOMGATE_KIND_DOMAIN);
  CHECK(entry("@.Example.ORG") == "@.example.org");
  CHECK(kind == BLOOMGATE_KIND_DOMAIN_TREE);
  CHECK(entry("joe@a.example > ann@b.example") == "joe@a.example\nann@b.example");
  CHECK(kind == BLOOMGATE_KIND_PAIR);
  CHECK(entry("list:A.Example > ann@b.example") == "list:a.example\nann@b.example");
  CHECK(kind == BLOOMGATE_KIND_DOMAIN_PAIR);
  CHECK(entry("List:A.Example") == "list:a.example");
  CHECK(kind == BLOOMGATE_KIND_MAILING_LIST);
  CHECK(entry("list:*.Example") == "list:*.example");
  CHECK(kind == BLOOMGATE_KIND_MAILING_LIST_TREE);
  CHECK(entry("joe@a.example Signed-By ESP.example") == "joe@a.example signed-by esp.example");
  CHECK(kind == BLOOMGATE_KIND_WITH_SIGNER);
  CHECK(entry("# a comment").empty());
  CHECK(kind == BLOOMGATE_KIND_BLANK);
  CHECK(entry("").empty());
  CHECK(kind == BLOOMGATE_KIND_BLANK);
}

TEST_CASE("the last error is one sentence, also after a longer one") {
  CHECK(open_error("", 2) == BLOOMGATE_BAD_ARGUMENT);
  const std::string flags = bloomgate_last_error();
  CHECK(open_error("/" + std::string(200, 'x') + "/" + std::string(200, 'y')) == BLOOMGATE_CANNOT_OPEN);
  REQUIRE(std::string(bloomgate_last_error()).size() > flags.size());
  CHECK(open_error("", 2) == BLOOMGATE_BAD_ARGUMENT);
  CHECK(bloomgate_last_error() == flags);
}

TEST_CASE_METHOD(Library, "the hash of a key is the builder's") {
  const Filter filter = built({"joe@example.org"}, {.seed = 42});
  std::uint64_t hash = 0;
  REQUIRE(bloomgate_hash_key(filter.get(), "joe@example.org", 15, &hash) == BLOOMGATE_OK);
  CHECK(hash == hash_key("joe@example.org", 42));
  const Filter stored = opened((kTests / "golden/stored.bloom").string());
  REQUIRE(bloomgate_hash_key(stored.get(), "joe@example.org", 15, &hash) == BLOOMGATE_OK);
  CHECK(hash == mix_hash(hash_key("joe@example.org", 42), 7));
  const Filter classic = opened((kTests / "golden/classic.bloom").string());
  CHECK(bloomgate_hash_key(classic.get(), "joe@example.org", 15, &hash) == BLOOMGATE_UNSUPPORTED_LAYOUT);
}

TEST_CASE("every code has a name and a sentence, and each thread its own last error") {
  for (int error = BLOOMGATE_OK; error <= BLOOMGATE_INTERRUPTED; ++error) {
    CHECK(std::string(bloomgate_error_name(error)) != "unknown");
    CHECK(std::string(bloomgate_strerror(error)).size() > 5);
  }
  CHECK(std::string(bloomgate_error_name(-1)) == "unknown");
  CHECK(std::string(bloomgate_error_name(BLOOMGATE_INTERRUPTED + 1)) == "unknown");
  CHECK(open_error("/nowhere/" + std::string(3'000, 'x')) == BLOOMGATE_CANNOT_OPEN);
  CHECK(std::strlen(bloomgate_last_error()) == 1'023);
  std::string of_other = "?";
  std::thread([&] { of_other = bloomgate_last_error(); }).join();
  CHECK(of_other.empty());
  CHECK(bloomgate_version() == std::string(BLOOMGATE_VERSION));
}

}  // namespace
}  // namespace bloomgate::test
