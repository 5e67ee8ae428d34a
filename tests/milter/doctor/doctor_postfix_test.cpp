// What --doctor finds in what setup-postfix reads. With a real Postfix: tests/e2e/test_doctor.py.
#include <algorithm>
#include <filesystem>

#include "filter/base/json.hpp"
#include "milter/doctor/doctor.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/stand_in_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

LoopbackServer::Answer greets(std::string text) {
  return [text = std::move(text)](LoopbackServer::Client& client) { client.send(text); };
}

// A Postfix with a later stage and a light path, in which nothing is wrong.
struct PostfixFolder : InFolder {
  PostfixFolder() {
    write_file(folder.file("main.cf"), "");
    write_file(socket, "");
    write_file(folder.file("silent"), "|\n");
    write_file(folder.file("forged"), "X-Bloomgate:|IGNORE\nAuthentication-Results: mx.test;|IGNORE\n");
    write_file(folder.file("marks"), "X-Bloomgate: deliver; reason=listed;|FILTER light:" + stage + "\n");
    programs.put("postmap",
                 "[ \"$1 $3\" = '-c -q' ] || exit 1\nwhile IFS='|' read -r start action; do\n"
                 "case \"$4\" in \"$start\"*) echo \"$action \"; exit;; esac\ndone < \"$2/$5\"");
    reading["milters"] = all({milter("inet:127.0.0.1:" + before.address().port), milter("unix:" + socket)});
    reading["services"] = Json::object();
    reading["milter_header_checks"] = all({"marks"});
    reading["header_checks"] = all({"silent", "forged"});
    reading["transports"] = all({"scan", "light"});
    reading["content_filter"] = "scan:" + stage;
    reading["milter_default_action"] = "accept";
    reading["mail_owner"] = "root";
    reading["myhostname"] = "mx.test";
    reading["queue_directory"] = folder.path().string();
  }

  // `text` is that of smtpd_milters, where it differs.
  static Json milter(const std::string& address, const std::string& text = "") {
    return {{"text", text.empty() ? address : text}, {"address", address}};
  }
  static Json all(const std::vector<Json>& elements) {
    Json made = Json::array();
    for (const Json& each : elements) made.push_back(each);
    return made;
  }
  static Json service(const Json& milters, const std::vector<std::string>& that) {
    Json made = {{"milters", milters}};
    for (const std::string& each : that) made[each] = true;
    return made;
  }

  std::vector<DoctorFinding> found(const std::vector<std::string>& words = {}) const {
    write_file(folder.file("reading"), reading.dump(1));
    programs.put("setup-postfix", "[ \"$1 $2\" = '--read " + folder.path().string() + "' ] && exec /bin/cat '" +
                                      folder.file("reading") + "'\nexit 1");
    std::vector<std::string> options = {"--config",         "/dev/null", "--socket",      "unix:" + socket,
                                        "--authentication", "required",  "--verify-dkim", "no"};
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      const auto same = std::ranges::find(options, words[i]);
      if (same != options.end()) {
        *(same + 1) = words[i + 1];
      } else {
        options.insert(options.end(), {words[i], words[i + 1]});
      }
    }
    std::vector<DoctorFinding> findings;
    CHECK(examine_postfix(read_daemon_command(options).options, folder.path(), findings));
    return findings;
  }

  // What is found with a change is the same but for `more`, in place of `fewer` findings.
  void check_change(const std::vector<std::string>& more, std::size_t fewer,
                    const std::vector<std::string>& words = {}) const {
    std::vector<std::string> lines, missing = good;
    for (const std::string& line : shown(found(words))) {
      const auto same = std::ranges::find(missing, line);
      if (same == missing.end()) {
        lines.push_back(line);
      } else {
        missing.erase(same);
      }
    }
    check_lines(lines, more);
    CHECK(missing.size() == fewer);
  }

  LoopbackServer before{plays_milter()};
  LoopbackServer later{greets("220 mx ESMTP\r\n")};
  const StandInPrograms programs;
  const std::string socket = folder.file("b.sock");
  const std::string stage = "[127.0.0.1]:" + later.address().port;
  const std::string where = "Postfix (" + folder.path().string() + ")";
  Json reading;
  const std::vector<std::string> good = {
      "ok postfix: " + where + " asks the daemon",
      "ok milter: inet:127.0.0.1:" + before.address().port + " answers",
      "ok postfix: listed mail takes the light path, the rest goes to scan:" + stage,
      "ok postfix: the light path (light:" + stage + ") answers",
      "ok postfix: the later stage (scan:" + stage + ") answers",
      "ok postfix: forged marks are removed before the milters",
      "ok authentication: forged results are removed before the milters",
  };
};

TEST_CASE_METHOD(PostfixFolder, "in a Postfix that is set up as the manual says no fault is found") {
  check_found(found(), good);
  reading["milters"] = all({milter("inet:127.0.0.1:" + before.address().port), milter("local:b.sock")});
  check_found(found(), good);
}

TEST_CASE_METHOD(PostfixFolder, "a Postfix of which nothing can be read is told apart from none") {
  std::vector<DoctorFinding> findings;
  CHECK_FALSE(examine_postfix({}, folder.file("none"), findings));
  CHECK(findings.empty());
  const auto found_with = [&](const std::string& script) {
    programs.put("setup-postfix", script);
    std::vector<DoctorFinding> found;
    CHECK(examine_postfix({}, folder.path(), found));
    return found;
  };
  const std::string prints = "problem postfix: what setup-postfix --read prints ";
  check_found(found_with("exit 1"),
              {"problem postfix: postconf cannot read the configuration in " + folder.path().string()});
  check_found(found_with("echo nonsense"), {prints + "is not JSON"});
  check_found(found_with("echo '{\"milters\": 1}'"), {prints + "is not what this version's prints"});
  programs.remove("setup-postfix");
  CHECK(examine_postfix({}, folder.path(), findings));
  check_found(findings, {"problem postfix: setup-postfix is not installed, so nothing is known of Postfix"});
}

TEST_CASE_METHOD(PostfixFolder, "a Postfix that does not ask the daemon is found, however it names another milter") {
  const std::string not_asked = "problem postfix: " + where + " does not ask ";
  reading["milters"] = all({milter("unix:/other.sock")});
  check_found(found(), {not_asked + "unix:" + socket + ": smtpd_milters does not name it"});
  check_found(found({"--socket", "inet:99@127.0.0.1"}), {not_asked + "inet:99@127.0.0.1*"});
  reading["milters"] = all({milter("inet:localhost:199"), milter("unix:b:99")});
  check_found(found({"--socket", "inet:99@127.0.0.1"}), {not_asked + "inet:99@127.0.0.1*"});
  reading["milters"] = all({milter("inet:127.0.0.1:" + before.address().port), milter("inet:localhost:99")});
  check_change({}, 0, {"--socket", "inet:99@127.0.0.1"});
}

TEST_CASE_METHOD(PostfixFolder, "milters beside the daemon are asked, and one that is silent is found") {
  LoopbackServer other{replies("no milter")};
  const std::string odd = "inet:127.0.0.1:" + other.address().port;
  reading["milters"] = all({milter("inet:127.0.0.1:1"), milter("unix:" + socket), milter(odd), milter("nonsense")});
  reading["content_filter"] = "";
  check_change({"problem milter: the milter inet:127.0.0.1:1 does not listen: no results of it reach Bloomgate",
                "problem milter: the milter " + odd + " does not answer a mail server"},
               4);
  reading["header_checks"] = all({Json("silent"), Json("none")});
  check_change({"problem milter: the milter inet:127.0.0.1:1*", "problem milter: the milter inet:127.0.0.1*",
                "problem postfix: while Bloomgate is down a forged mark would count: header_checks does not remove "
                "X-Bloomgate",
                "problem authentication: results that a sender has forged in the name mx.test are not removed by "
                "header_checks"},
               6);
}

TEST_CASE_METHOD(PostfixFolder, "what mail finds while the daemon is down is told") {
  const std::string waits =
      "problem postfix: while Bloomgate is down mail is refused or waits: its default_action is not accept";
  reading["milter_default_action"] = "tempfail";
  check_change({waits}, 0);
  const Json preceding = milter("inet:127.0.0.1:" + before.address().port);
  reading["milters"] = all({preceding, milter("unix:" + socket, "{ unix:b, default_action=accept }")});
  check_change({}, 0);
  reading["milter_default_action"] = "accept";
  reading["milters"] = all({preceding, milter("unix:" + socket, "{ unix:accept, default_action=tempfail }")});
  check_change({waits}, 0);
  // The daemon itself asks a checker, and nothing comes after it.
  const std::vector<std::string> checks = {"--deep-check", "spamd:unix:/s"};
  const std::string spam_flag =
      "warning postfix: header_checks does not remove X-Spam fields that come with a message: a message with many of "
      "them is refused";
  check_change({waits, spam_flag}, 1, checks);
  reading["content_filter"] = "";
  check_change({"ok postfix: while Bloomgate is down all mail waits at its sender (default_action)", spam_flag}, 4,
               checks);
  reading["milters"] = all({preceding, milter("unix:" + socket)});
  check_change({"ok postfix: while Bloomgate is down mail is delivered unchecked*", spam_flag}, 4, checks);
  reading["milters"] = all({preceding, milter("unix:" + socket), milter("unix:/nonexistent/s")});
  write_file(folder.file("forged"),
             "X-Bloomgate:|IGNORE\nX-Spam-Flag: NO|IGNORE\nAuthentication-Results: mx.test;|IGNORE\n");
  check_change({"problem milter: the milter unix:/nonexistent/s does not listen"}, 3, checks);
}

TEST_CASE_METHOD(PostfixFolder, "Postfix's user has to be able to connect") {
  reading["mail_owner"] = "nobody";
  std::filesystem::permissions(socket, std::filesystem::perms::owner_all);
  check_change({"problem permissions: Postfix's user nobody may not connect to " + socket}, 0);
  std::filesystem::remove(socket);
  check_change({}, 0);
  reading["milters"] = all({milter("inet:127.0.0.1:" + before.address().port), milter("inet:localhost:99")});
  check_change({}, 0, {"--socket", "inet:99@127.0.0.1"});
}

TEST_CASE_METHOD(PostfixFolder, "a service that does not ask, or cannot see the socket from its chroot, is found") {
  const Json ours = all({milter("unix:" + socket)}), others = all({milter("inet:localhost:9")});
  const std::string of_its_own = " of master.cf has smtpd_milters of its own, and does not ask Bloomgate";
  Json& services = reading["services"];
  services["smtp/inet"] = service(others, {"is_incoming"});
  services["submission/inet"] = service(others, {"is_chrooted"});
  services["a/inet"] = service(ours, {"is_incoming", "is_chrooted"});
  services["b/inet"] = service(ours, {"is_chrooted", "asks_no_milters"});
  services["c/inet"] = service(Json::array(), {"is_incoming"});
  services["d/inet"] = service(all({milter("local:b.sock")}), {"is_chrooted"});
  services["e/inet"] = service(ours, {"is_incoming"});
  check_change({"problem postfix: smtp/inet" + of_its_own,
                "problem postfix: a/inet of master.cf runs in a chroot and cannot see " + socket +
                    ": its mail has no mark, and nothing is learned of it",
                "problem postfix: c/inet" + of_its_own},
               0);
}

TEST_CASE_METHOD(PostfixFolder, "a later stage or a light path that is missing or silent is found") {
  const std::string unchecked = "problem postfix: nothing checks mail that is not listed*";
  reading["transports"] = all({Json("scan"), Json("lights")});
  check_change({"problem postfix: listed mail is sent to the transport light, which master.cf does not have"}, 2);
  write_file(folder.file("marks"), "X-Bloomgate:|DUNNO\n");
  check_change({"problem postfix: mail that Bloomgate marks still takes the deep check (scan:" + stage +
                "): milter_header_checks has no FILTER for it"},
               2);
  write_file(folder.file("marks"), "X-Bloomgate:|FILTER scan:[127.0.0.1]:1\n");
  reading["content_filter"] = "scan:dummy";
  check_change({"ok postfix: listed mail takes the light path, the rest goes to scan:dummy",
                "problem postfix: the light path (scan:[127.0.0.1]:1) does not answer: listed mail waits in the queue"},
               3);
  LoopbackServer rude{greets("554 no\r\n")};
  reading["content_filter"] = "scan:127.0.0.1:" + rude.address().port;
  check_change({"ok postfix: listed mail takes the light path*", "problem postfix: the light path*",
                "problem postfix: the later stage (scan:127.0.0.1:" + rude.address().port +
                    ") does not answer: mail that is not listed waits in the queue"},
               3);
  reading["content_filter"] = "scan";
  check_change({"ok postfix: listed mail takes the light path*", "problem postfix: the light path*"}, 3);
  reading["content_filter"] = "";
  check_change({unchecked}, 3);
}

TEST_CASE_METHOD(PostfixFolder, "forged marks that reach the daemon are a warning, and forged results a problem") {
  const std::string mark =
      "warning postfix: header_checks does not remove X-Bloomgate fields that come with a message: a message with many "
      "of them is refused";
  write_file(folder.file("forged"), "X-Spam-Flag:|IGNORE\nAuthentication-Results: mx.test;|IGNORE\n");
  check_change({mark}, 1);
  check_change({mark}, 1, {"--deep-check", "spamd:unix:/s"});
  const std::string forged = "problem authentication: results that a sender has forged in the name ";
  check_change({mark, forged + "mx.other are not removed by header_checks"}, 2, {"--trusted-authserv-id", "mx.other"});
  check_change({mark}, 2, {"--authentication", "off"});
  const std::string verifies = "ok authentication: the daemon verifies signatures itself, and trusts no results";
  check_change({mark, verifies}, 2, {"--verify-dkim", "yes"});
  reading["milters"] = all({milter("unix:" + socket)});
  check_change({mark, verifies}, 3, {"--verify-dkim", "yes"});
  check_change({mark}, 2, {"--verify-dkim", "yes", "--trusted-authserv-id", "mx.test"});
  check_change(
      {mark, "problem authentication: no milter before Bloomgate authenticates senders, so no sender counts as listed"},
      2);
}

TEST_CASE_METHOD(PostfixFolder,
                 "logins that may write with any address are a warning where the daemon learns from them") {
  const std::vector<std::string> learns = {"--learn", "outbound", "--own-domains", "ours.example"};
  check_change({"warning learn: Postfix lets a user who has logged in write with any address*"}, 0, learns);
  reading["binds_logins"] = true;
  check_change({"ok learn: Postfix lets a login write with its own addresses alone"}, 0, learns);
  check_change({}, 0);
}

}  // namespace
}  // namespace bloomgate::test
