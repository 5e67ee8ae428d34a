#include "milter/lists/list_file_edit.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kText =
    "# our own list, by Anna\n\nJoe@Example.ORG\n<joe@example.org>  \n@corp.example\nnonsense\n# end\n";

class List {
 public:
  explicit List(std::string_view text = kText) { write_file(path(), text); }

  std::string path() const { return folder_.file("revoked"); }
  std::string text() const { return read_file(path()); }
  EditedList edit(ListChange change, const Words& words, TagSeparators separators = {}) const {
    return edit_list_file(path(), entries_of_words(words), change, separators);
  }
  // What is in the folder beside the list.
  Words others() const {
    Words names;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
      if (each.path() != path()) names.push_back(each.path().filename().string());
    }
    return names;
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

TEST_CASE_METHOD(List, "an added entry is the last line, as its key, and all other lines stay") {
  const EditedList edited = edit(ListChange::put_in, {"<Ann@EXAMPLE.org.>", "@.Tree.example", "joe@example.org"});
  CHECK(text() == std::string(kText) + "ann@example.org\n@.tree.example\n");
  REQUIRE(edited.entries.size() == 3);
  CHECK(edited.entries[0].entry == "ann@example.org");
  CHECK(edited.entries[0].has_changed);
  CHECK(edited.entries[1].has_changed);
  CHECK_FALSE(edited.entries[2].has_changed);  // in another spelling
  CHECK(edited.size == 4);
  CHECK(others().empty());
}

TEST_CASE_METHOD(List, "removing an entry removes each of its spellings, and nothing else") {
  const EditedList edited = edit(ListChange::take_out, {"JOE@example.org", "ann@example.org"});
  CHECK(text() == "# our own list, by Anna\n\n@corp.example\nnonsense\n# end\n");
  CHECK(edited.entries[0].has_changed);
  CHECK_FALSE(edited.entries[1].has_changed);
  CHECK(edited.size == 1);
}

TEST_CASE_METHOD(List, "an edit waits for another program's lock of the folder, also a shared one") {
  FileDescriptor lock(open(folder().path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(flock(lock.get(), LOCK_SH) == 0);
  auto edited = std::async(std::launch::async, [this] { return edit(ListChange::put_in, {"ann@example.org"}); });
  CHECK(edited.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout);
  lock.reset();
  CHECK(edited.get().entries[0].has_changed);
}

TEST_CASE("removing an address names another entry that still covers it") {
  const List list("ann@corp.example\n@corp.example\njoe@example.org\njoe+x@example.org\n");
  CHECK(list.edit(ListChange::take_out, {"ann@corp.example"}).entries[0].covered_by == "@corp.example");
  const TagSeparators plus = *TagSeparators::parse("+");
  CHECK(list.edit(ListChange::take_out, {"joe+x@example.org"}, plus).entries[0].covered_by != "");
  CHECK(list.edit(ListChange::take_out, {"joe@example.org"}, plus).entries[0].covered_by == "");
  const List trees("ann@mail.corp.example\n@.corp.example\n@mail.corp.example\n");
  CHECK(trees.edit(ListChange::take_out, {"ann@mail.corp.example"}).entries[0].covered_by == "@mail.corp.example");
  CHECK(trees.edit(ListChange::take_out, {"@mail.corp.example"}).entries[0].covered_by == "@.corp.example");
  CHECK(trees.edit(ListChange::take_out, {"ann@mail.corp.example"}).entries[0].covered_by == "@.corp.example");
}

TEST_CASE("removing a domain names a wider entry that still covers it, and no narrower one") {
  const auto covered_by = [](const std::string& text, const std::string& entry) {
    const List list(text + entry + "\n");
    const EditedList edited = list.edit(ListChange::take_out, {entry});
    CHECK(edited.entries[0].has_changed);
    return edited.entries[0].covered_by;
  };
  CHECK(covered_by("@.corp.example\n", "@.mail.corp.example") == "@.corp.example");
  CHECK(covered_by("@.corp.example\n@.mail.corp.example\n", "@mail.corp.example") == "@.mail.corp.example");
  CHECK(covered_by("@.corp.example\n", "@corp.example") == "@.corp.example");
  CHECK(covered_by("@.example\n", "@.mail.corp.example") == "@.example");
  CHECK(covered_by("@corp.example\n@mail.corp.example\n", "@.corp.example") == "");
  CHECK(covered_by("@corp.example\njoe@mail.corp.example\n", "@mail.corp.example") == "");
  CHECK(covered_by("@.mail.corp.example\n@.corp.example > ann@ours.example\n", "@.corp.example") == "");
}

TEST_CASE("without a change the file is not written") {
  const List list("joe@example.org");
  make_old(list.path());
  const auto before = std::filesystem::last_write_time(list.path());
  list.edit(ListChange::put_in, {"joe@example.org"});
  list.edit(ListChange::take_out, {"ann@example.org"});
  CHECK(std::filesystem::last_write_time(list.path()) == before);
  CHECK(list.text() == "joe@example.org");
}

TEST_CASE("an entry given twice is added once, and a last line without an end gets one") {
  const List list("joe@example.org");
  make_old(list.path());
  list.edit(ListChange::put_in, {"ann@example.org", "Ann@example.org"});
  CHECK(list.text() == "joe@example.org\nann@example.org\n");
}

TEST_CASE("an address that begins like a comment is written in brackets") {
  const List list("");
  list.edit(ListChange::put_in, {"<#joe@example.org>"});
  CHECK(list.text() == "<#joe@example.org>\n");
  CHECK(load_exact_list(list.path()).list.size() == 1);
  CHECK(list.edit(ListChange::take_out, {"<#joe@example.org>"}).entries[0].has_changed);
  CHECK(list.text().empty());
}

TEST_CASE("one invalid entry stops the whole change") {
  for (const char* const word :
       {"nonsense", "", "  ", "# joe@example.org", "<>", "a@b@example.org", "joe@example.org\n",
        "joe@example.org\nann@example.org", "@", "@.", "joe@exam ple.org"}) {
    INFO(word);
    if (std::string_view(word) == "joe@example.org\n") continue;  // a line end at the end means nothing
    CHECK(error_code_of([&] { entries_of_words(Words{"ann@example.org", word}); }) == ErrorCode::bad_input);
  }
}

TEST_CASE("an error about a word says what is wrong with it, and that nothing was changed") {
  struct Row {
    std::string word;
    std::string want;
  };
  for (const auto& [word, want] : std::vector<Row>{{"nonsense", "there is no '@'"},
                                                   {"# joe@example.org", "it is a comment"},
                                                   {" ", "it is empty"},
                                                   {"a\x1b@example.org", "a control character"},
                                                   {"\u200bjoe@partner.example", "U+200B (ZERO WIDTH SPACE)"},
                                                   {"joe@partner.example\u3000", "U+3000 (IDEOGRAPHIC SPACE)"},
                                                   {"*@partner.example", "write @partner.example"}}) {
    CHECK_THROWS_WITH(entries_of_words(Words{word}),
                      Contains(want) && Contains("Nothing was changed") && !Contains("\x1b"));
  }
}

TEST_CASE("a list of recipients is edited with recipients only") {
  for (const auto& [word, want] : {std::pair("joe@example.org > ann@ours.example", "write the recipient alone"),
                                   std::pair("list:news.lists.example", "a mailing list is a sender"),
                                   std::pair("@example.org signed-by example.net", "only a sender is listed with"),
                                   std::pair("\u200bann@ours.example", "U+200B (ZERO WIDTH SPACE)")}) {
    CHECK_THROWS_WITH(entries_of_words(Words{word}, ListOf::recipients),
                      Contains(want) && Contains("an entry is ann@ours.example, @ours.example or") &&
                          Contains("Nothing was changed"));
  }
  const List list("joe@example.org > ann@ours.example\n");
  const EditedList edited = edit_list_file(list.path(), entries_of_words(Words{"bob@ours.example"}, ListOf::recipients),
                                           ListChange::put_in, {}, ListOf::recipients);
  CHECK(edited.size == 1);  // the pair is no entry of it
}

TEST_CASE("an edit loses nothing that an editor saves meanwhile") {
  std::string old_text;
  // What is written takes ten times as long with a sanitizer.
  while (old_text.size() < (kIsSanitized ? 200'000 : 2'000'000))
    old_text += "# a long list, so that there is time to save another meanwhile\n";
  const std::string saved_text = old_text + "saved@example.org\n";
  const auto written_bytes = [](const std::string& path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 ? status.st_size : -1;
  };
  for (int attempt = 0; attempt < (kIsSanitized ? 10 : 50); ++attempt) {
    INFO(attempt);
    const List list(old_text);
    const std::string saved = list.folder().file("saved");
    write_file(saved, saved_text);
    // As soon as the edit has begun to write, or at the last moment: when it has written all.
    const auto least_bytes = attempt % 2 == 0 ? 0 : static_cast<off_t>(old_text.size()) + 1;
    std::atomic<bool> is_over{false};
    std::thread editor([&] {
      while (!is_over && written_bytes(list.folder().file(".revoked.edit")) < least_bytes) {
      }
      std::filesystem::rename(saved, list.path());
    });
    list.edit(ListChange::put_in, {"ann@example.org"});
    is_over = true;
    editor.join();
    // An editor that comes after the edit replaces what this has made, which is no fault.
    const std::string text = list.text();
    CHECK((text == saved_text || text == saved_text + "ann@example.org\n"));
    CHECK(list.others().empty());
  }
}

TEST_CASE("a list may grow to the size that can be read, and no further") {
  const std::string added = "ann@example.org\n";
  const List list;
  const auto edit = [&](std::uint64_t most_bytes) {
    edit_list_file(list.path(), entries_of_words(Words{"ann@example.org"}), ListChange::put_in, {}, ListOf::senders,
                   most_bytes);
  };
  const std::uint64_t large_enough = std::string_view(kText).size() + added.size();
  CHECK(error_code_of([&] { edit(large_enough - 1); }) == ErrorCode::bad_input);
  CHECK_THROWS_WITH(edit(large_enough - 1), Contains("put a list of that size into a filter"));
  CHECK(list.text() == kText);
  CHECK(list.others().empty());
  edit(large_enough);
  CHECK(list.text() == kText + added);
}

TEST_CASE_METHOD(List, "mode and owner stay, and so does a symbolic link") {
  REQUIRE(chmod(path().c_str(), 0640) == 0);
  if (geteuid() == 0) REQUIRE(chown(path().c_str(), 65534, 65534) == 0);
  const std::string link = folder().file("link");
  std::filesystem::create_symlink("revoked", link);
  edit_list_file(link, entries_of_words(Words{"ann@example.org"}), ListChange::put_in);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(text() == std::string(kText) + "ann@example.org\n");
  struct stat status = {};
  REQUIRE(stat(path().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  if (geteuid() == 0) CHECK((status.st_uid == 65534 && status.st_gid == 65534));
}

TEST_CASE_METHOD(List, "a missing list and a path that is not a list are refused") {
  const auto edit = [](const std::string& path) {
    edit_list_file(path, entries_of_words(Words{"ann@example.org"}), ListChange::put_in);
  };
  CHECK(error_code_of([&] { edit(folder().file("missing")); }) == ErrorCode::cannot_open);
  CHECK_THROWS_WITH(edit(folder().file("missing")), Contains("install -m 644 /dev/null"));
  CHECK_FALSE(std::filesystem::exists(folder().file("missing")));
  CHECK(error_code_of([&] { edit(folder().path().string()); }) == ErrorCode::not_a_regular_file);
  write_file(path(), std::string("joe@exam\0ple.org\n", 17));
  CHECK(error_code_of([&] { edit(path()); }) == ErrorCode::bad_input);
}

TEST_CASE_METHOD(List, "the file of a killed edit is replaced, and never followed as a link") {
  const std::string precious = folder().file("precious");
  write_file(precious, "precious");
  std::filesystem::create_symlink(precious, folder().file(".revoked.edit"));
  edit(ListChange::put_in, {"ann@example.org"});
  CHECK(text() == std::string(kText) + "ann@example.org\n");
  CHECK(read_file(precious) == "precious");
  CHECK(others() == Words{"precious"});
}

TEST_CASE("edits at the same time wait for each other, and none is lost") {
  const List list("");
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&list, writer] {
      for (int i = 0; i < 20; ++i) {
        list.edit(ListChange::put_in, {"w" + std::to_string(writer) + "-" + std::to_string(i) + "@example.org"});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(load_exact_list(list.path()).list.size() == 80);
}

TEST_CASE("a pair is added and removed like any entry") {
  const List list("@corp.example\n@.wide.example > ann@ours.example\n<#odd@example.org> > ann@ours.example\n");
  const EditedList put = list.edit(
      ListChange::put_in,
      {"Joe@example.org > Ann@ours.example", "x@corp.example > ann@ours.example", "<#a@b.example> > @c.example"});
  CHECK(put.size == 6);
  CHECK(
      list.text().ends_with("\njoe@example.org > ann@ours.example\nx@corp.example > ann@ours.example\n"
                            "<#a@b.example> > @c.example\n"));
  const EditedList taken =
      list.edit(ListChange::take_out, {"joe@example.org > ann@ours.example", "x@corp.example > ann@ours.example",
                                       "y@a.wide.example > ann@ours.example", "<#odd@example.org> > ann@ours.example"});
  CHECK(taken.size == 3);
  CHECK(taken.entries[0].has_changed);
  CHECK(taken.entries[0].covered_by.empty());
  CHECK(taken.entries[1].has_changed);
  CHECK(taken.entries[1].covered_by == "@corp.example");
  CHECK_FALSE(taken.entries[2].has_changed);
  CHECK(taken.entries[2].covered_by == "@.wide.example > ann@ours.example");
  CHECK(taken.entries[3].has_changed);
  CHECK(list.text() == "@corp.example\n@.wide.example > ann@ours.example\n<#a@b.example> > @c.example\n");
  CHECK(error_code_of([&] { list.edit(ListChange::put_in, {"joe@example.org >"}); }) == ErrorCode::bad_input);
}

TEST_CASE("removing a pair reports that its sender is still listed for all recipients") {
  const List list("joe@example.org\npal@example.org > @ours.example\n");
  const TagSeparators plus = *TagSeparators::parse("+");
  const auto covered_by = [&](const std::string& pair) {
    return list.edit(ListChange::take_out, {pair}, plus).entries[0].covered_by;
  };
  CHECK(covered_by("joe@example.org > ann@ours.example") == "joe@example.org");
  CHECK(covered_by("joe+x@example.org > ann@ours.example") == "the sender without its tag");
  CHECK(covered_by("pal@example.org > ann@ours.example") == "pal@example.org > @ours.example");
  CHECK(covered_by("pal@example.org > ann@theirs.example").empty());
}

TEST_CASE("removing a pair with a domain names another entry that still covers it") {
  const auto [left, pair, want] = GENERATE(table<const char*, const char*, const char*>({
      {"@corp.example", "@corp.example > ann@ours.example", "@corp.example"},
      {"@.corp.example", "@corp.example > ann@ours.example", "@.corp.example"},
      {"@.example", "@.corp.example > ann@ours.example", "@.example"},
      {"@.corp.example > ann@ours.example", "@sub.corp.example > ann@ours.example",
       "@.corp.example > ann@ours.example"},
      {"@corp.example > @ours.example", "@corp.example > ann@ours.example", "@corp.example > @ours.example"},
      {"joe@corp.example", "joe@corp.example > @ours.example", "joe@corp.example"},
      {"<#joe@corp.example>", "<#joe@corp.example> > @ours.example", "#joe@corp.example"},
      {"@corp.example", "joe@corp.example > @ours.example", "@corp.example"},
      {"joe@corp.example > @.example", "joe@corp.example > @ours.example", "joe@corp.example > @.example"},
      {"joe@corp.example > @.ours.example", "joe@corp.example > @sub.ours.example",
       "joe@corp.example > @.ours.example"},
      // These have less.
      {"@corp.example", "@.corp.example > ann@ours.example", ""},
      {"joe@corp.example", "@corp.example > ann@ours.example", ""},
      {"@corp.example > pat@ours.example", "@corp.example > ann@ours.example", ""},
      {"@corp.example > ann@ours.example", "@corp.example > @ours.example", ""},
      {"@.sub.corp.example", "@corp.example > ann@ours.example", ""},
      {"@ours.example", "@corp.example > ann@ours.example", ""},
  }));
  CAPTURE(left, pair);
  const List list(std::string(left) + "\n" + pair + "\n");
  const EditedEntry taken = list.edit(ListChange::take_out, {pair}).entries[0];
  CHECK(taken.has_changed);
  CHECK(taken.covered_by == want);
}

}  // namespace
}  // namespace bloomgate::test
