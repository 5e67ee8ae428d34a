// The program itself, from outside: what it prints and how it ends.
#include <sys/wait.h>
#include <sysexits.h>

#include <cstdlib>

#include "filter/base/json.hpp"
#include "filter/learned/learned_file.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/glue/listening_socket.hpp"
#include "milter/learning/learner.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"
#include "tests/support/places.hpp"

namespace bloomgate::test {
namespace {

struct Ended {
  int status;
  std::string output;  // standard output and error together
};

// A folder of its own with a whitelist.
struct Program : InFolder {
  // Runs the daemon's program with those words after its name, and waits for its end.
  Ended run(const std::string& arguments, const std::string& environment = "") const {
    const std::string output = folder.file("output");
    const std::string command =
        environment + " timeout 20 '" + milter_program() + "' < /dev/null " + arguments + " > '" + output + "' 2>&1";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed program, words of this file
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output)};
  }
  // Runs --explain with that message on standard input.
  Ended explain(const std::string& arguments, const std::string& message) const {
    write_file(folder.file("message"), message);
    return run("--explain " + arguments + " < '" + folder.file("message") + "'");
  }

  WhitelistFile whitelist{{"joe@example.org", "@corp.example"}};
};

TEST_CASE_METHOD(Program, "help and version are answered, whatever the configuration") {
  const Ended help = run("--help");
  CHECK(help.status == EX_OK);
  CHECK_THAT(help.output, StartsWith("usage: bloomgate-milter") && Contains("--allow-missing-whitelist"));
  const Ended version = run("--version");
  CHECK(version.status == EX_OK);
  CHECK(version.output == "bloomgate-milter " BLOOMGATE_VERSION "\n");
}

TEST_CASE_METHOD(Program, "a start that cannot succeed ends with a status of sysexits and a sentence that says why") {
  const WhitelistFile damaged({"joe@example.org"});
  damaged.truncate();
  write_file(folder.file("bad.conf"), "mode = observe\nlog-level = loud\n");
  const std::string used = folder.file("used.sock");
  const ListeningSocket in_use(*parse_socket_address("unix:" + used), 0600, "");

  const std::string good = "--config /dev/null --log-target stderr --whitelist " + whitelist.path() + " ";
  struct Case {
    std::string_view name;
    std::string arguments;
    int status;
    std::string message;
  };
  const Case cases[] = {
      {"unknown option", "--nonsense", EX_USAGE, "'--nonsense'"},
      {"bad value on the command line", good + "--mode off", EX_USAGE, "command line: --mode: expected one of"},
      {"bad value in the file", "--config " + folder.file("bad.conf"), EX_CONFIG,
       "bad.conf:2: log-level: expected one of"},
      {"no file", "--config " + folder.file("missing.conf"), EX_CONFIG,
       "missing.conf: the configuration file cannot be opened"},
      {"missing whitelist", "--config /dev/null --log-target stderr --whitelist /nonexistent/w", EX_NOINPUT,
       "/nonexistent/w"},
      {"damaged whitelist", "--config /dev/null --log-target stderr --whitelist " + damaged.path(), EX_DATAERR,
       damaged.path()},
      {"socket in use", good + "--socket unix:" + used, EX_UNAVAILABLE, "is bloomgate-milter running already?"},
      {"socket's folder missing", good + "--socket unix:/nonexistent/s", EX_CANTCREAT, "unix:/nonexistent/s"},
      {"no folder for long messages",
       good + "--deep-check spamd:unix:/s --deep-check-folder /nonexistent/f --socket unix:" + folder.file("s"),
       EX_CONFIG, "deep-check-folder: expected a folder that the daemon may write to, got '/nonexistent/f': No such"},
      {"no such group", good + "--socket-group no-such-group --socket unix:" + folder.file("s"), EX_CONFIG,
       "'no-such-group'"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Ended ended = run(c.arguments);
    CHECK(ended.status == c.status);
    CHECK_THAT(ended.output, Contains("bloomgate-milter: ") && Contains(c.message));
  }
}

TEST_CASE_METHOD(Program, "if libmilter ends by itself, the daemon ends, with a failure if libmilter failed") {
  if (faulty_calls().empty()) return;
  const std::string arguments =
      "--config /dev/null --whitelist " + whitelist.path() + " --socket unix:" + folder.file("s") + " --log-target ";
  const std::string preload = "LD_PRELOAD='" + faulty_calls() + "' FAULTY_CALLS_FAULT=";
  const Ended failed = run(arguments + "stderr", preload + "'smfi_main 1 5'");
  CHECK(failed.status == EX_SOFTWARE);
  CHECK_THAT(failed.output, Contains("libmilter failed; its reason is in the system log") && Contains("stopped"));
  const Ended ended = run(arguments + "stderr", preload + "'smfi_main 1 end'");
  CHECK(ended.status == EX_OK);
  CHECK_THAT(ended.output, !Contains("libmilter failed") && Contains("stopped"));
  if (std::filesystem::exists("/dev/log")) return;
  const Ended without_syslog = run(arguments + "syslog", preload + "'smfi_main 1 end'");
  CHECK_THAT(without_syslog.output, Contains("there is no /dev/log: this log is on standard error"));
}

TEST_CASE_METHOD(Program, "option --check-config reports on the configuration and the whitelist, and starts nothing") {
  const std::string config = folder.file("test.conf");
  write_file(config, "whitelist = " + whitelist.path() + "\nsocket = unix:" + folder.file("s") + "\n");

  const Ended good = run("--check-config --config " + config);
  CHECK(good.status == EX_OK);
  CHECK_THAT(good.output,
             Contains("configuration " + config + ": the daemon can start with it; what needs action is below\n") &&
                 Contains("soon: whitelist whitelist: it keeps no domains of its senders") &&
                 Contains(whitelist.path() + ": 2 entries"));
  CHECK_FALSE(std::filesystem::exists(folder.file("s")));

  const std::string checker = " --deep-check spamd:unix:/s --deep-check-folder ";
  const Ended asking = run("--check-config --config " + config + checker + folder.path().string());
  CHECK(asking.status == EX_OK);
  CHECK_THAT(asking.output, Contains("deep-check spamd:unix:/s\n"));
  CHECK(run("--check-config --config " + config + checker + whitelist.path()).status == EX_CONFIG);

  const std::string learning = "--check-config --learn outbound --own-domains ours.example --lookup-socket ";
  const Ended closed = run(learning + "127.0.0.1:9813 --config " + config);
  CHECK(closed.status == EX_OK);
  CHECK_THAT(closed.output, Contains(":9813@127.0.0.1: what was learned is not asked there") &&
                                Contains("learn: users who have logged in teach\n"));
  const Ended open = run(learning + "127.0.0.1:9813 --lookup-learned-over-tcp yes --config " + config);
  CHECK_THAT(open.output, Contains("can ask whether a user has written to somebody"));

  const std::string networks = learning + "127.0.0.1:9813 --exempt-networks 192.0.2.1 --config " + config;
  CHECK_THAT(run(networks).output, Contains("clients of exempt-networks do not (learn-from-exempt = no)\n"));
  const Ended exempt = run(networks + " --learn-from-exempt yes --learn-exempt-rate 7");
  CHECK_THAT(exempt.output, Contains("so do clients of exempt-networks") && Contains("at most 7 new entries an hour"));
  CHECK_THAT(good.output, !Contains("learn:"));

  const std::string other = whitelist.path() + ".other";
  std::filesystem::rename(whitelist.path(), other);
  const Ended missing = run("--check-config --config " + config);
  CHECK(missing.status == EX_NOINPUT);
  CHECK_THAT(missing.output, Contains(whitelist.path()));

  const Ended allowed = run("--check-config --allow-missing-whitelist yes --config " + config);
  CHECK(allowed.status == EX_OK);
  CHECK_THAT(allowed.output,
             Contains("configuration " + config +
                      ": the daemon can start with it, but has no whitelist yet: until it has one, it lists senders "
                      "only by its other lists; what needs action is below\n") &&
                 Contains("whitelist " + whitelist.path() + ": missing, which allow-missing-whitelist allows: "));
  write_file(config, "whitelist = a=" + other + "\nwhitelist = b=" + whitelist.path() +
                         "\nsocket = unix:" + folder.file("s") + "\n");
  CHECK_THAT(run("--check-config --allow-missing-whitelist yes --config " + config).output,
             Contains("can start with it, but with 1 of its 2 whitelists only; what needs action"));

  CHECK(run("--check-config --mode off --config " + config).status == EX_USAGE);
}

TEST_CASE_METHOD(Program, "option --explain decides on a message and says why, step by step") {
  const std::string setup =
      "--config /dev/null --whitelist " + whitelist.path() + " --verify-dkim no --mta-name mx.example.net ";
  const std::string signature = "DKIM-Signature: " + fresh_signature("example.org") + "\n";
  const std::string pass = "Authentication-Results: mx.example.net;\n dkim=pass header.d=example.org\n";
  struct Case {
    std::string_view name;
    std::string arguments, message, decision;
  };
  const Case cases[] = {
      {"a message with its Return-Path", "",
       "Return-Path: <joe@example.org>\nFrom: joe@example.org\n" + signature + pass, "deliver reason=listed"},
      {"--from goes before Return-Path", "--from '<ann@example.net>' --identity envelope",
       "Return-Path: <joe@example.org>\nFrom: joe@example.org\n" + signature + pass, "check reason=not-listed"},
      {"by the From field", "--from '<bounce@sender.example>'", "From: Joe <joe@example.org>\n" + signature + pass,
       "deliver reason=listed"},
      {"a result without its signature", "--from '<joe@example.org>'", "From: joe@example.org\n" + pass,
       "check reason=not-authenticated"},
      {"what is in a body is not read", "--from '<joe@example.org>'",
       "From: joe@example.org\n" + signature + "\n" + pass, "check reason=not-authenticated"},
      {"fields of the command line",
       "--from joe@example.org --header-from joe@example.org --authentication-results 'mx.example.net; dkim=pass "
       "header.d=example.org'",
       "From: nobody@example.net\n", "deliver reason=listed"},
      {"another server's results",
       "--from joe@example.org --header-from joe@example.org --authentication-results 'mx.example.com; dkim=pass "
       "header.d=example.org'",
       "", "check reason=not-authenticated"},
      {"two From fields", "--from joe@example.org --header-from joe@example.org --header-from joe@example.org", "",
       "check reason=several-from-fields"},
      {"the null sender", "--from '<>' --identity envelope", "From: joe@example.org\n", "check reason=null-sender"},
      {"a client that is exempt", "--from '<>' --client 192.0.2.7 --exempt-networks 192.0.2.0/24", "",
       "check reason=exempt-network"},
      {"a login", "--from '<>' --auth-login joe", "", "check reason=exempt-authenticated"},
      {"a listener", "--from '<>' --daemon-name MSA --exempt-daemons MSA --exempt-action deliver", "",
       "deliver reason=exempt-daemon"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Ended ended = explain(setup + c.arguments, c.message);
    CHECK(ended.status == EX_OK);
    CHECK_THAT(ended.output, Contains(", because ") && EndsWith("\ndecision: " + c.decision + "\n"));
    const Ended json = explain(setup + "--json " + c.arguments, c.message);
    CHECK(json.status == EX_OK);
    const std::string verdict = c.decision.substr(0, c.decision.find(' '));
    CHECK_THAT(json.output, StartsWith("{\"decision\":\"" + verdict + "\",\"reason\":\"" +
                                       c.decision.substr(c.decision.find('=') + 1) + "\""));
  }
}

TEST_CASE_METHOD(Program, "option --explain shows the key that is looked up, and never a raw byte of the sender's") {
  const std::string setup = "--config /dev/null --authentication off --whitelist " + whitelist.path() + " ";
  const Ended ended = explain(setup + "--from '<prvs=1234abcdef=JOE@Example.ORG>'", "From: \x1b[2J\n");
  CHECK_THAT(ended.output, Contains("key=joe@example.org") && !Contains("\x1b"));
}

TEST_CASE_METHOD(Program,
                 "option --explain without an envelope sender or a whitelist is an error that says what to do") {
  const std::string setup = "--config /dev/null --whitelist ";
  const Ended unknown = explain(setup + whitelist.path(), "From: joe@example.org\n");
  CHECK(unknown.status == EX_USAGE);
  CHECK_THAT(unknown.output, Contains("give --from"));
  CHECK(explain(setup + "/nonexistent/w --from '<>'", "").status == EX_NOINPUT);
  const Ended allowed = explain(setup + "/nonexistent/w --allow-missing-whitelist yes --from joe@example.org", "");
  CHECK(allowed.status == EX_OK);
  CHECK_THAT(allowed.output, StartsWith("Checked, because ") && EndsWith("decision: check reason=no-whitelist\n"));
}

// A message in a mailbox of a user of ours; the results of a trusted milter prove its senders.
struct Moved : Program {
  Moved() { LearnedFile(learned, LearnedFile::Access::create); }

  struct Mail {
    std::string envelope = "joe@example.org";
    std::string from = "joe@example.org";
    std::string results = "spf=pass smtp.mailfrom=joe@example.org";
    std::string fields = {};
  };
  // Whom the lists do not have.
  static Mail of_friend() {
    return {"ann@news.example", "ann@news.example", "spf=pass smtp.mailfrom=ann@news.example"};
  }

  std::string options() const {
    return "--config /dev/null --whitelist " + whitelist.path() +
           " --trusted-authserv-id mx.test --spf-proves address --own-domains ours.example --learn " + learn +
           " --recipient-delimiter + --learn-file " + learned + " --suspend-file " + suspended + " ";
  }
  Ended moved(const std::string& words, const Mail& mail, const std::string& more = "") const {
    write_file(folder.file("message"), "Return-Path: <" + mail.envelope + ">\nAuthentication-Results: mx.test; " +
                                           mail.results + "\nFrom: Name <" + mail.from + ">\n" + mail.fields +
                                           "Subject: hello\n\ntext\n");
    return run(options() + more + " moved " + words + " < '" + folder.file("message") + "'");
  }
  std::string said(const std::string& words, const Mail& mail, const std::string& more = "") const {
    const Ended ended = moved(words, mail, more);
    CHECK(ended.status == EX_OK);
    return ended.output;
  }
  bool is_learned(std::string_view sender) const {
    return LearnedFile(learned, LearnedFile::Access::read).find("pam@ours.example", sender).has_value();
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const Suspension& each : read_suspensions(suspended)) found.push_back(shown_name(each.entry, each.user));
    return found;
  }

  std::string learn = "outbound";
  const std::string learned = folder.file("learned.db");
  const std::string suspended = folder.file("suspended");
};

TEST_CASE_METHOD(Moved,
                 "a listed sender whose proven message is moved to Junk is suspended for that user, and back ends it") {
  CHECK_THAT(said("junk Pam+x@Ours.example", Mail()),
             StartsWith("joe@example.org is suspended for pam@ours.example until 20"));
  CHECK(entries() == std::vector<std::string>{"joe@example.org > pam@ours.example"});
  CHECK_THAT(said("junk pam@ours.example", Mail()), StartsWith("joe@example.org was suspended already for pam@"));
  CHECK(said("inbox pam@ours.example", Mail()) == "joe@example.org was listed already, and is no longer suspended\n");
  CHECK(entries().empty());
  CHECK_FALSE(is_learned("joe@example.org"));
}

TEST_CASE_METHOD(
    Moved,
    "a stranger whose proven message is moved out of Junk is listed for that user, and into it changes nothing") {
  CHECK(said("junk pam@ours.example", of_friend()) ==
        "ann@news.example is not listed for pam@ours.example: nothing was changed\n");
  CHECK(entries().empty());
  CHECK(said("inbox pam@ours.example", of_friend()) == "ann@news.example is listed for pam@ours.example\n");
  CHECK(is_learned("ann@news.example"));
  CHECK(said("inbox pam@ours.example", of_friend()) == "ann@news.example was listed already\n");
  CHECK_THAT(said("junk pam@ours.example", of_friend()), StartsWith("ann@news.example is suspended for pam@ours"));
}

TEST_CASE_METHOD(Moved,
                 "what is moved is about the sender by whom it is delivered, or about the one that the user sees") {
  // A newsletter whose envelope differs each time; From is listed.
  const Mail newsletter = {"bounce-4711@example.org", "joe@example.org",
                           "spf=pass smtp.mailfrom=bounce-4711@example.org; dmarc=pass header.from=example.org; "
                           "dkim=pass header.d=example.org"};
  CHECK_THAT(said("junk pam@ours.example", newsletter), StartsWith("joe@example.org is suspended for"));
  // The envelope alone is proven, and From has another name.
  const Mail forged = {"x@evil.example", "service@bank.example", "spf=pass smtp.mailfrom=x@evil.example"};
  CHECK_THAT(said("inbox pam@ours.example", forged), StartsWith("nothing was changed: "));
  CHECK_FALSE(is_learned("x@evil.example"));
  CHECK_FALSE(is_learned("service@bank.example"));
  // One whom a domain lists.
  const Mail colleague = {"eve@corp.example", "eve@corp.example", "spf=pass smtp.mailfrom=eve@corp.example"};
  CHECK_THAT(said("junk pam@ours.example", colleague), StartsWith("eve@corp.example is suspended for"));
}

TEST_CASE_METHOD(Moved, "a message that proves nothing changes nothing when it is moved") {
  const std::string spf = "spf=pass smtp.mailfrom=joe@example.org";
  for (const std::string& results :
       {std::string("spf=fail smtp.mailfrom=joe@example.org"), std::string("none"),
        std::string("spf=pass smtp.mailfrom=joe@other.example"), "dmarc=fail header.from=example.org; " + spf}) {
    for (const char* const where : {"junk", "inbox"}) {
      INFO(where << ' ' << results);
      const std::string text = said(where + std::string(" pam@ours.example"), {.results = results});
      CHECK_THAT(text, StartsWith("nothing was changed: the message would be checked"));
    }
  }
  // Nor does one that counts without a proof.
  for (const char* const rule : {"off", "preferred"}) {
    const std::string text =
        said("inbox pam@ours.example", {.results = "none"}, std::string("--authentication ") + rule);
    CHECK_THAT(text, StartsWith("nothing was changed: "));
  }
  write_file(folder.file("revoked"), "joe@example.org\n");
  CHECK_THAT(said("junk pam@ours.example", Mail(), "--revoked " + folder.file("revoked")), Contains("(revoked)"));
  CHECK(entries().empty());
  CHECK_FALSE(is_learned("joe@example.org"));
}

TEST_CASE_METHOD(
    Moved, "what is moved does nothing where that is off, lists no more than the rate in a day, and no colleague") {
  CHECK(said("junk pam@ours.example", Mail(), "--suspend no") ==
        "suspend = no, so joe@example.org is not suspended for pam@ours.example\n");
  CHECK(entries().empty());
  LearnedFile(learned, LearnedFile::Access::write)
      .record(std::vector<LearnedFile::Contact>{{"pam@ours.example", "jim@example.org"}}, utc_day());
  CHECK_THAT(said("inbox pam@ours.example", of_friend(), "--learn-rate 1"),
             StartsWith("pam@ours.example has as many new correspondents today as learn-rate allows"));
  CHECK_FALSE(is_learned("ann@news.example"));
  CHECK_THAT(said("inbox pam@ours.example", of_friend(), "--learn-rate 2"),
             StartsWith("ann@news.example is listed for"));
  const Mail colleague = {"bob@ours.example", "bob@ours.example", "spf=pass smtp.mailfrom=bob@ours.example"};
  CHECK(said("inbox pam@ours.example", colleague) ==
        "bob@ours.example is in a domain of ours, and is not listed for a user\n");
  learn = "none";
  const Mail other = {"eve@else.example", "eve@else.example", "spf=pass smtp.mailfrom=eve@else.example"};
  CHECK(said("inbox pam@ours.example", other) ==
        "learn = none, so eve@else.example is not listed for pam@ours.example\n");
}

TEST_CASE_METHOD(Moved, "where something else holds up the sender, too, the command says so") {
  edit_suspensions(suspended, {}, [](Suspensions& all) { all.push_back({.entry = "@example.org", .times = {}}); });
  said("junk pam@ours.example", Mail());
  CHECK(said("inbox pam@ours.example", Mail()) ==
        "joe@example.org was listed already, and is still suspended: '@example.org'\n");
}

TEST_CASE_METHOD(
    Moved,
    "a user who is no address of ours, other words, and a message without a sender are refused with a sentence") {
  CHECK(moved("junk pam", Mail()).status == EX_USAGE);
  CHECK_THAT(moved("junk pam", Mail()).output, Contains("moved: 'pam' is no address: name the user as the senders do"));
  CHECK_THAT(moved("junk zoe@elsewhere.example", Mail()).output, Contains("is no address in own-domains"));
  for (const char* const words : {"", "junk", "trash pam@ours.example", "junk pam@ours.example joe@example.org"}) {
    CHECK_THAT(moved(words, Mail()).output, Contains("moved: expected junk USER or inbox USER"));
  }
  write_file(folder.file("message"), "From: joe@example.org\n\ntext\n");
  CHECK_THAT(run(options() + "moved junk pam@ours.example < '" + folder.file("message") + "'").output,
             Contains("moved: the message has no Return-Path field"));
  const Json shown = Json::parse(moved("junk pam@ours.example --json", Mail()).output);
  CHECK(shown.at("changed").is_true());
  CHECK(shown.at("sender").text() == "joe@example.org");
  CHECK(shown.at("to").text() == "junk");
}

}  // namespace
}  // namespace bloomgate::test
