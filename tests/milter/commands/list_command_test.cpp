// `bloomgate-milter add`, `remove`, `revoke` and the others: what they write. Beside a daemon: tests/e2e.
#include <sysexits.h>

#include <sstream>

#include "config/config_error.hpp"
#include "filter/base/json.hpp"
#include "milter/commands/commands.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct ListFile : WithPath {
  ListFile() { write_file(path, "# ours\n"); }

  // What is written, and the status where that is not 0.
  std::string run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--config", "/dev/null"});
    for (const char* const list : {"--extra", "--revoked", "--opt-out"}) {
      // What is put into `extra` gets a warning if `revoked` has it.
      if (words.front() != "add" || list == std::string_view("--extra")) words.insert(words.end(), {list, path});
    }
    return run_alone(words);
  }
  static std::string run_alone(const std::vector<std::string>& words) {
    std::ostringstream out;
    const int status = edit_list(read_daemon_command(words), out);
    return out.str() + (status == EX_OK ? "" : "status " + std::to_string(status));
  }
};

TEST_CASE_METHOD(ListFile, "each change of a list is told, and what still covers an entry that was taken out") {
  CHECK(run({"revoke", "Joe@Example.org", "@corp.example"}) ==
        "joe@example.org: is in the list revoked now\n@corp.example: is in the list revoked now\n" + path +
            ": 2 entries\n");
  CHECK(run({"revoke", "joe@example.org"}) ==
        "joe@example.org: was in the list revoked already\n" + path + ": 2 entries\n");
  CHECK(run({"unrevoke", "eve@example.org"}) ==
        "eve@example.org: was not in the list revoked\n" + path + ": 2 entries\n");
  CHECK(run({"unrevoke", "ann@corp.example"}) ==
        "ann@corp.example: was not in the list revoked, but @corp.example is, and covers it\n" + path +
            ": 2 entries\nstatus 1");
  CHECK(run({"unrevoke", "@corp.example"}) ==
        "@corp.example: is no longer in the list revoked\n" + path + ": 1 entry\n");
  CHECK(run({"remove", "eve@example.org"}) ==
        "eve@example.org: was not in the list extra; if a whitelist lists it, 'bloomgate-milter revoke' stops it\n" +
            path + ": 1 entry\n");
  CHECK(read_file(path) == "# ours\njoe@example.org\n");
}

TEST_CASE_METHOD(ListFile, "an entry that stays for the same sender under a condition is told, with how to remove it") {
  write_file(path, "joe@example.org\njoe@example.org signed-by esp.example\n@corp.example > ann@ours.example\n");
  CHECK(run({"remove", "joe@example.org"}) ==
        "joe@example.org: is no longer in the list extra, but joe@example.org signed-by esp.example is; to undo that, "
        "too: bloomgate-milter remove 'joe@example.org signed-by esp.example'\n" +
            path + ": 2 entries\nstatus 1");
  CHECK(run({"unrevoke", "kim@corp.example"}) ==
        "kim@corp.example: was not in the list revoked, but @corp.example > ann@ours.example is; to undo that, too: "
        "bloomgate-milter unrevoke '@corp.example > ann@ours.example'\n" +
            path + ": 2 entries\nstatus 1");
  CHECK(run({"remove", "joe@example.org signed-by esp.example"}) ==
        "joe@example.org signed-by esp.example: is no longer in the list extra\n" + path + ": 1 entry\n");
}

TEST_CASE_METHOD(ListFile, "an entry with a signer that is not quoted is told to be") {
  CHECK(error_of([&] { run({"add", "joe@example.org", "signed-by", "esp.example"}); }).what() ==
        std::string("put the whole entry into quotes: 'joe@example.org signed-by esp.example'. Nothing was changed"));
  CHECK(read_file(path) == "# ours\n");
}

TEST_CASE_METHOD(
    ListFile, "a sender who is put into the list extra while it is revoked gets a warning that says how to undo that") {
  const std::string revoked = folder.file("revoked");
  write_file(revoked, "joe@example.org\n@corp.example\n");
  const auto add = [&](const std::string& entry, const std::string& list) {
    return run_alone({"add", entry, "--config", "/dev/null", "--extra", path, "--revoked", list});
  };
  CHECK_THAT(
      add("Joe+x@example.org", revoked),
      Contains("joe+x@example.org: is in the list extra now\n  warning: joe+x@example.org is on the list revoked, so "
               "its mail is still checked. To undo that: bloomgate-milter unrevoke joe+x@example.org\n"));
  CHECK_THAT(add("ann@corp.example", revoked), Contains("warning: ann@corp.example is on the list revoked"));
  CHECK_THAT(add("ann@example.org", revoked), !Contains("warning"));
  CHECK_THAT(add("joe@example.org", folder.file("none")), !Contains("warning"));
  CHECK_THAT(run_alone({"revoke", "joe@example.org", "--config", "/dev/null", "--revoked", revoked}),
             !Contains("warning"));
  const std::string before = read_file(path);
  write_file(revoked, std::string("joe@exam\0", 9));
  CHECK_THROWS_WITH(add("eve@example.org", revoked), Contains("revoked is damaged: line 1"));
  CHECK(read_file(path) == before);
}

TEST_CASE_METHOD(ListFile, "each list is asked about tags as the daemon asks it") {
  const std::string untagged = "but the address without its tag is, and covers it";
  run({"add", "joe@example.org"});
  CHECK_THAT(run({"remove", "joe+x@example.org"}), !Contains("covers"));
  CHECK_THAT(run({"unrevoke", "joe+x@example.org"}), Contains(untagged));
  CHECK_THAT(run({"unrevoke", "joe-x@example.org", "--recipient-delimiter", "-"}), !Contains("covers"));
  for (const char* const tag : {"+", "-"}) {
    CHECK_THAT(run({"opt-in", "joe" + std::string(tag) + "x@example.org", "--recipient-delimiter", "-"}),
               Contains(untagged));
  }
  CHECK_THAT(run({"opt-in", "joe-x@example.org"}), !Contains("covers"));
}

TEST_CASE_METHOD(ListFile, "an entry that may mean otherwise than it was meant gets a warning when it is put in") {
  struct Case {
    std::string command, entry, warning;
  };
  const std::string no_dot =
      " has a domain without a dot, as only a network of its own has; if it was cut short, write it whole\n";
  const std::string suffix = " is a public suffix: anybody can have a domain below it; list single domains\n";
  for (const Case& c : {Case{"add", "joe@cut", no_dot},
                        {"add", "@com", suffix},
                        {"add", "@.cut", no_dot},
                        {"add", "@.co.uk", suffix},
                        {"add", "@co.uk", suffix},
                        {"add", "@.co.uk > ann@ours.example", suffix},
                        {"add", "joe@cut > ann@ours.example", no_dot},
                        {"add", "joe@ours.example > ann@cut", ""},
                        {"add", "joe@co.uk", ""},
                        {"add", "@example.org", ""},
                        {"add", "joe@[192.0.2.1]", ""},
                        {"add", "joe@[ipv6:2001:db8::1]", ""},
                        {"add", "list:news", ""},
                        {"add", "joe@cut signed-by mailer.example", ""},
                        {"add", "joe@example.org signed-by mailer.example", ""},
                        {"revoke", "joe@cut", no_dot},
                        {"revoke", "@.co.uk", ""},
                        {"opt-out", "ann@cut", no_dot},
                        {"remove", "joe@cut", ""}}) {
    INFO(c.command << ' ' << c.entry);
    const std::string text = run({c.command, c.entry});
    if (c.warning.empty()) CHECK_THAT(text, !Contains("warning"));
    const std::string warning = c.warning.empty() ? "" : "  warning: " + c.entry + c.warning;
    CHECK_THAT(text, Contains("\n" + warning + path));
  }
}

TEST_CASE_METHOD(ListFile, "the same is told as JSON") {
  run({"add", "@cut"});
  const std::string text = run({"remove", "Joe@cut", "eve@example.org", "--json"});
  CHECK_THAT(text, StartsWith("{\n  \"command\"") && EndsWith("}\nstatus 1"));
  const Json all = Json::parse(text.substr(0, text.rfind("status")));
  CHECK(all.at("command").text() == "remove");
  CHECK(all.at("list").text() == "extra");
  CHECK(all.at("file").text() == path);
  CHECK(all.at("size").number() == 1);
  REQUIRE(all.at("entries").elements().size() == 2);
  const Json& first = all.at("entries").elements()[0];
  CHECK(first.at("given").text() == "Joe@cut");
  CHECK(first.at("entry").text() == "joe@cut");
  CHECK_FALSE(first.at("changed").is_true());
  CHECK(first.at("covered_by").text() == "@cut");
  CHECK(first.at("warning").text() == "");
  const Json& second = all.at("entries").elements()[1];
  CHECK(second.at("given").text() == "eve@example.org");
  CHECK(second.at("covered_by").text() == "");
  const Json put_in = Json::parse(run({"add", "joe@cut", "--json"}));
  CHECK(put_in.at("entries").elements()[0].at("changed").is_true());
  CHECK_THAT(std::string(*put_in.at("entries").elements()[0].at("warning").text()),
             StartsWith("joe@cut has a domain without a dot"));
}

TEST_CASE_METHOD(ListFile, "a list without a file cannot be changed, and the error says how to have one") {
  write_file(folder.file("conf"), "mode = observe\n");
  CHECK_THROWS_WITH(run_alone({"add", "joe@example.org", "--config", folder.file("conf")}),
                    Contains(folder.file("conf") +
                             ": extra: no file is set for this list; write 'extra = /etc/bloomgate/extra.txt'"));
}

}  // namespace
}  // namespace bloomgate::test
