// `bloomgate-milter why`: where it searches, and what it writes. What it says of a message: tests/milter/why.
#include <sysexits.h>
#include <unistd.h>

#include <sstream>

#include "filter/base/json.hpp"
#include "milter/commands/commands.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/berlin_time.hpp"
#include "tests/support/stand_in_programs.hpp"

namespace bloomgate::test {
namespace {

std::string line_of(const std::string& queue_id, const std::string& sender, const std::string& from = "-") {
  return "2026-11-20T10:00:00+00:00 mx bloomgate-milter[12]: queue_id=" + queue_id + " sender=<" + sender +
         "> decision=check reason=not-listed time_us=1.0 identity=envelope authentication=none whitelist=- "
         "header_from=" +
         from + "\n";
}

struct Asked {
  int status;
  std::string text;
};

struct DaemonsLog : InFolder {
  DaemonsLog() { write_file(log, line_of("A1", "joe@example.org") + "2026-11-20T10:00:00+00:00 mx other[1]: x\n"); }

  Asked ask(std::vector<std::string> words, const std::string& input = "") const {
    words.insert(words.begin(), "why");
    words.insert(words.end(), {"--config", config});
    std::istringstream standard_input(input);
    std::ostringstream out;
    const int status = why(read_daemon_command(words), standard_input, out);
    return {status, out.str()};
  }
  Asked of_log(std::vector<std::string> words) const {
    words.insert(words.end(), {"--log", log});
    return ask(words);
  }

  const Berlin berlin;
  const WhitelistFile whitelist{{"joe@example.org"}};
  std::string config = "/dev/null";
  const std::string log = folder.file("log");
};

TEST_CASE_METHOD(DaemonsLog, "a message that is found is shown with its time, its senders and the reason") {
  const std::string because = "\n    Checked, because joe@example.org is on no list. If you know";
  const Asked found = of_log({"A1"});
  CHECK(found.status == EX_OK);
  CHECK_THAT(found.text, StartsWith("2026-11-20 11:00  A1  <joe@example.org>" + because) && EndsWith(".\n"));
  write_file(log, line_of("A1", "joe@example.org", "joe@example.org") + line_of("A1", "x@a.test", "ann@b.test"));
  const Asked both = of_log({"A1"});
  CHECK_THAT(both.text, Contains("  A1  <joe@example.org>\n") && Contains("  A1  <x@a.test>  From: ann@b.test\n"));
  std::string many = "2026-99-20T10:00:00+00:00" + line_of("A1", "y@a.test").substr(25);
  for (int i = 0; i < 9; ++i) many += line_of("A1", "x@a.test");
  write_file(log, many);
  CHECK_THAT(of_log({"A1"}).text, StartsWith("at an invalid time  A1  <y@a.test>\n"));
  write_file(log, many + line_of("A1", "x@a.test"));
  CHECK_THAT(of_log({"A1"}).text, StartsWith("The last 10 of 11 messages:\n2026-11-20"));
}

TEST_CASE_METHOD(DaemonsLog, "all of that is told as JSON, too") {
  const Asked found = of_log({"A1", "--json"});
  CHECK(found.status == EX_OK);
  CHECK_THAT(found.text, StartsWith("{\n  \"asked\"") && EndsWith("}\n"));
  const Json all = Json::parse(found.text);
  CHECK(all.at("asked").text() == "A1");
  CHECK(all.at("found").number() == 1);
  CHECK(all.at("lines").number() == 2);
  CHECK(all.at("now").text() == "");
  CHECK(all.at("advice").elements().empty());
  CHECK(all.at("searched").elements()[0].text() == log);
  const Json& message = all.at("messages").elements()[0];
  CHECK(message.at("time").number() == 1'795'168'800);
  CHECK(message.at("local_time").text() == "2026-11-20 11:00");
  CHECK(message.at("queue_id").text() == "A1");
  CHECK(message.at("sender").text() == "<joe@example.org>");
  CHECK(message.at("header_from").text() == "-");
  CHECK(message.at("decision").text() == "check");
  CHECK(message.at("reason").text() == "not-listed");
  CHECK_THAT(std::string(*message.at("why").text()), StartsWith("Checked, because joe@example.org"));
  write_file(log, "2026-99-20T10:00:00+00:00" + line_of("A1", "y@a.test").substr(25));
  const Json undated = Json::parse(of_log({"A1", "--json"}).text).at("messages").elements()[0];
  CHECK_FALSE(undated.at("time").number());
  CHECK_FALSE(undated.at("local_time").text());
  const Asked none = of_log({"never@example.org", "--json", "--whitelist", whitelist.path()});
  CHECK(none.status == 1);
  const Json of_none = Json::parse(none.text);
  CHECK_THAT(std::string(*of_none.at("now").text()), StartsWith("Checked, because never@example.org is on no list"));
  CHECK_THAT(std::string(*of_none.at("advice").elements()[0].text()), StartsWith("Other logs: "));
}

TEST_CASE_METHOD(DaemonsLog, "where nothing is found, it is said what was searched, and how to find more") {
  const Asked unknown = of_log({"B2"});
  CHECK(unknown.status == 1);
  CHECK(unknown.text ==
        "No message with the queue ID B2 is in " + log +
            " (2 lines read, 1 of them decisions of the daemon).\nOther logs: bloomgate-milter why B2 --log "
            "FILE, once for each file; - is standard input.\n");
  CHECK_THAT(of_log({"never.example"}).text,
             Contains("\nThe messages of a domain: bloomgate-milter why @never.example\n"));
  const Asked address = of_log({"never@example.org", "--whitelist", whitelist.path()});
  CHECK_THAT(address.text,
             StartsWith("No message of never@example.org is in ") &&
                 Contains("\nAn unsigned message from this sender would now be: Checked, because never@"));
  CHECK_THAT(of_log({"Never <never@example.org>", "--whitelist", "/nonexistent/w"}).text,
             Contains("\nThe lists are not known: open /nonexistent/w: No such file or directory"));
  CHECK_THAT(of_log({"@never.example", "--whitelist", whitelist.path()}).text, !Contains(" now"));
  write_file(log, "2026-11-20T10:05:00+00:00 mx bloomgate-milter[12]: reloaded\n");
  CHECK_THAT(of_log({"B2"}).text, Contains("\nThe daemon writes a line for each message only if its option log-level"));
  write_file(log, "");
  CHECK_THAT(of_log({"B2"}).text, Contains("\nNo line of bloomgate-milter is there: its option log-target says where"));
}

TEST_CASE_METHOD(DaemonsLog, "the lists are not asked where the configuration cannot be read, and its fault is told") {
  DaemonCommand command = read_daemon_command({"why", "never@example.org", "--log", log, "--config", "/dev/null"});
  command.options.whitelists = {{"w", whitelist.path()}};
  command.why.config_fault = "conf:1: \x1b[2J";
  std::istringstream none;
  std::ostringstream out;
  CHECK(why(command, none, out) == 1);
  CHECK_THAT(out.str(), Contains("\nThe lists are not known: conf:1: \\x1b[2J.\n") && !Contains("would now be"));
}

TEST_CASE_METHOD(DaemonsLog, "standard input is searched like a file, and several logs are one") {
  const Asked found = ask({"A1", "--log", log, "--log", "-"}, line_of("A1", "ann@example.org"));
  CHECK_THAT(found.text, Contains("<joe@example.org>") && Contains("<ann@example.org>"));
  CHECK_THAT(ask({"B2", "--log", log, "--log", "-"}, "x\n").text,
             Contains("is in " + log + ", standard input (3 lines read, 1 of them"));
}

TEST_CASE_METHOD(DaemonsLog, "a log that is compressed or cannot be read is an error that says what to do") {
  CHECK_THROWS_WITH(ask({"A1", "--log", folder.file("none")}),
                    "open the log " + folder.file("none") + ": No such file or directory");
  CHECK_THROWS_WITH(ask({"A1", "--log", folder.path()}), Contains("open the log " + folder.path().string() + ": "));
  for (const auto& [start, program] :
       {std::pair{"\x1f\x8b", "zcat"}, {"\x28\xb5", "zstdcat"}, {"\xfd\x37", "xzcat"}, {"BZ", "bzcat"}}) {
    write_file(log, start);
    CHECK_THROWS_WITH(of_log({"A1"}), log + " is compressed; run this instead: " + program + ' ' + log +
                                          " | bloomgate-milter why ... --log -");
    CHECK_THROWS_WITH(ask({"A1", "--log", "-"}, start),
                      "standard input is compressed; unpack it first: " + std::string(program) +
                          " | bloomgate-milter why ... --log -");
    const std::string one(1, start[0]);
    CHECK(ask({"A1", "--log", "-"}, one + "\n").status == 1);
    CHECK(ask({"A1", "--log", "-"}, start[1] + one + "\n").status == 1);
    CHECK(ask({"A1", "--log", "-"}, one).status == 1);
    CHECK(ask({"A1", "--log", "-"}, std::string("x") + start[1]).status == 1);
  }
}

TEST_CASE_METHOD(DaemonsLog,
                 "without a named log the journal is read where no file has the message, and a fault of it is told") {
  const StandInPrograms programs;
  programs.put_noting_words("journalctl", "/bin/cat '" + log + "'");
  const Asked found = ask({"A1"});
  CHECK(found.status == EX_OK);
  CHECK_THAT(found.text, Contains("<joe@example.org>"));
  const std::string words = programs.words();
  CHECK_THAT(words, Contains("_SYSTEMD_UNIT=bloomgate-milter.service\n--since=@"));
  const auto since = std::stoll(words.substr(words.find("--since=@") + 9));
  CHECK(since <= time(nullptr) - 7 * 86400);
  CHECK(since > time(nullptr) - 8 * 86400);
  CHECK_THAT(ask({"B2"}).text,
             Contains("the journal of the last 7 days (") &&
                 Contains("\nOlder messages: zcat /var/log/mail.log.*.gz | bloomgate-milter why B2 --log -"));
  programs.put("journalctl", "exit 3");
  const Asked failed = ask({"B2"});
  CHECK(failed.status == 1);
  CHECK_THAT(failed.text, Contains("\nNot read: journalctl ended with exit status 3"));
  if (access("/var/log/mail.log", F_OK) != 0 && access("/var/log/mail.log.1", F_OK) != 0) {
    CHECK_THAT(failed.text, StartsWith("No message with the queue ID B2 is in any log (0 lines"));
  }
}

}  // namespace
}  // namespace bloomgate::test
