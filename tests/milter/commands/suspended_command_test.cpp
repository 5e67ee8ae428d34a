// `bloomgate-milter suspended`: what it writes, and what is in the file then.
#include <sysexits.h>

#include <chrono>
#include <sstream>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/commands/commands.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using std::chrono::hours;
using std::chrono::sys_seconds;

struct SuspendFile : WithPath {
  // What is written, and the status where that is not 0.
  std::string run(std::vector<std::string> words) const {
    words.insert(words.begin(), "suspended");
    words.insert(words.end(), {"--config", "/dev/null", "--suspend-file", path});
    std::ostringstream out;
    const int status = suspended(read_daemon_command(words), out);
    return out.str() + (status == EX_OK ? "" : "status " + std::to_string(status));
  }
  void put(const std::vector<Suspension>& all) const { write_file(path, suspensions_text(all)); }
  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const Suspension& each : read_suspensions(path)) found.push_back(shown_name(each.entry, each.user));
    return found;
  }
  using Entries = std::vector<std::string>;

  const sys_seconds now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
};

TEST_CASE_METHOD(SuspendFile, "those who are suspended now are shown, with their end") {
  CHECK(run({"list"}) == path + ": 0 senders are suspended\n");
  put({{.entry = "joe@example.org", .until = {}, .times = {now - hours(30), now}},
       {.entry = "over@example.org", .until = now - hours(1), .times = {now}}});
  CHECK(run({"list"}) ==
        "joe@example.org: until it is cleared, 2 times within a week\n" + path + ": 1 sender is suspended\n");
  put({{.entry = "joe@example.org", .until = sys_seconds(std::chrono::seconds(4'102'444'800)), .times = {now}},
       {.entry = "@corp.example", .until = {}, .times = {}, .user = "ann@ours.example"}});
  CHECK(run({"list"}) ==
        "joe@example.org: until 2100-01-01 00:00:00 UTC\n@corp.example > ann@ours.example: until it is cleared\n" +
            path + ": 2 senders are suspended\n");
  const std::string text = run({"list", "--json"});
  CHECK_THAT(text, StartsWith("{\n  \"command\"") && EndsWith("}\n"));
  const Json shown = Json::parse(text);
  CHECK(shown.at("command").text() == "suspended");
  CHECK(shown.at("file").text() == path);
  const auto all = shown.at("suspended").elements();
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("entry").text() == "joe@example.org");
  CHECK_FALSE(all[0].at("user").text());
  CHECK(all[0].at("until").text() == "2100-01-01 00:00:00 UTC");
  CHECK(all[0].at("times").elements().size() == 1);
  CHECK(all[1].at("user").text() == "ann@ours.example");
  CHECK_FALSE(all[1].at("until").text());
}

TEST_CASE_METHOD(SuspendFile, "a person suspends senders until they are cleared, as the daemon counts them") {
  CHECK(run({"add", "Joe+news@Example.org", "@corp.example", "list:news.example"}) ==
        "joe@example.org: is suspended now, until it is cleared\n@corp.example: is suspended now, until it is cleared\n"
        "list:news.example: is suspended now, until it is cleared\n");
  CHECK(entries() == Entries{"joe@example.org", "@corp.example", "list:news.example"});
  CHECK_FALSE(read_suspensions(path)[0].until);
  CHECK(read_suspensions(path)[0].times.size() == 1);
  CHECK(run({"add", "joe@example.org"}) == "joe@example.org: was suspended until it is cleared already\n");
  put({{.entry = "joe@example.org", .until = now + hours(1), .times = {now}},
       {.entry = "joe@example.org", .until = now + hours(1), .times = {now}, .user = "ann@ours.example"}});
  CHECK(run({"add", "joe@example.org"}) == "joe@example.org: is suspended now, until it is cleared\n");
  CHECK(entries() == Entries{"joe@example.org > ann@ours.example", "joe@example.org"});
  CHECK(run({"add", "joe+x@example.org > Ann+y@ours.example"}) ==
        "joe@example.org > ann+y@ours.example: is suspended now, until it is cleared\n");
  CHECK(run({"clear", "joe@example.org > ann+y@ours.example"}) ==
        "joe@example.org > ann+y@ours.example: is no longer suspended\n");
  CHECK(run({"add", "joe+x@example.org > Ann+y@ours.example", "--recipient-delimiter", "+"}) ==
        "joe@example.org > ann@ours.example: is suspended now, until it is cleared\n");
  CHECK(entries() == Entries{"joe@example.org", "joe@example.org > ann@ours.example"});
  const std::string off = run({"add", "eve@example.org", "--suspend", "no"});
  CHECK_THAT(off,
             StartsWith("warning: suspend = no, so the daemon ignores all suspensions\neve@example.org: is suspended"));
}

TEST_CASE_METHOD(SuspendFile, "a person ends suspensions, of all users or of one") {
  put({{.entry = "joe@example.org", .until = {}, .times = {now}},
       {.entry = "ann@example.org", .until = {}, .times = {now}, .user = "a@ours.example"},
       {.entry = "ann@example.org", .until = {}, .times = {now}, .user = "b@ours.example"},
       {.entry = "old@example.org", .until = now - hours(1), .times = {now}, .user = "a@ours.example"}});
  CHECK(run({"clear", "joe+x@example.org"}) == "joe@example.org: is no longer suspended\n");
  CHECK(run({"clear", "joe@example.org"}) == "joe@example.org: was not suspended\nstatus 1");
  CHECK(run({"clear", "old@example.org"}) == "old@example.org: was not suspended\nstatus 1");
  CHECK(run({"clear", "ann@example.org"}) ==
        "ann@example.org: is suspended for a@ours.example alone; name both: suspended clear 'ann@example.org > "
        "a@ours.example'\nstatus 1");
  CHECK(run({"clear", "ann@example.org > c@ours.example"}) ==
        "ann@example.org > c@ours.example: was not suspended\nstatus 1");
  CHECK(run({"clear", "eve@example.org", "ann@example.org > b@ours.example"}) ==
        "eve@example.org: was not suspended\nann@example.org > b@ours.example: is no longer suspended\nstatus 1");
  CHECK(entries() == Entries{"ann@example.org > a@ours.example", "old@example.org > a@ours.example"});
  const std::string text = run({"clear", "ann@example.org > a@ours.example", "eve@example.org", "--json"});
  CHECK_THAT(text, StartsWith("{\n  \"command\"") && EndsWith("}\nstatus 1"));
  const Json shown = Json::parse(text.substr(0, text.rfind("status")));
  CHECK(shown.at("command").text() == "suspended");
  CHECK(shown.at("file").text() == path);
  const auto all = shown.at("entries").elements();
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("entry").text() == "ann@example.org");
  CHECK(all[0].at("user").text() == "a@ours.example");
  CHECK(all[0].at("changed").is_true());
  CHECK_FALSE(all[1].at("user").text());
  CHECK_FALSE(all[1].at("changed").is_true());
}

TEST_CASE_METHOD(SuspendFile, "an entry that is no sender and no pair of a sender and a recipient is refused") {
  CHECK_THROWS_WITH(run({"add", "joe@example.org signed-by mailer.example"}),
                    Contains("is an entry with a signer; name its sender alone"));
  CHECK_THROWS_WITH(run({"add", "joe@example.org > @ours.example"}), Contains("name one recipient, by its address"));
  CHECK_THROWS_WITH(run({"add", "joe@example.org", "nonsense"}), Contains("nonsense"));
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace bloomgate::test
