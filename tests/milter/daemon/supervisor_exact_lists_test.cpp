// The exact lists of a supervisor: when their files change, and what happens to them when they cannot be read.
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "milter/daemon/supervisor.hpp"
#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("an exact list is reloaded after any change of its file") {
  Watched s("joe@example.org\n");
  CHECK(s.revoked("<joe@example.org>"));
  SECTION("written anew in place") {
    write_file(s.path, "ann@example.org\n");
  }
  SECTION("another file renamed over it") {
    write_file(s.folder.file("new"), "ann@example.org\n");
    std::filesystem::rename(s.folder.file("new"), s.path);
  }
  SECTION("taken away, and made again") {
    std::filesystem::remove(s.path);
    Watched::await([&] { return s.reason("<stranger@example.net>") == Reason::no_revoked_list; });
    CHECK_THAT(s.systemd.wait_for_next(),
               StartsWith("STATUS=the list revoked cannot be read, so no message is delivered"));
    write_file(s.path, "ann@example.org\n");
  }
  SECTION("a link turned to another file") {
    write_file(s.folder.file("target"), "ann@example.org\n");
    std::filesystem::create_symlink(s.folder.file("target"), s.folder.file("link"));
    std::filesystem::rename(s.folder.file("link"), s.path);
  }
  Watched::await([&] { return s.revoked("<ann@example.org>"); });
  CHECK_FALSE(s.revoked("<joe@example.org>"));
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("STATUS=serving ") && Contains("; 1 revoked entry"));
}

TEST_CASE_METHOD(Supervised, "a requested reload reads every list again, watched or not") {
  sources.revoked = folder.file("revoked.txt");
  sources.extra = folder.file("extra.txt");
  write_file(sources.revoked, "joe@example.org\n");
  write_file(sources.extra, "vip@example.net\n");
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  CHECK(reason("<joe@example.org>") == Reason::revoked);
  CHECK(reason("<vip@example.net>") == Reason::listed_extra);
  write_file(sources.revoked, "ann@example.org\n");
  write_file(sources.extra, "guest@example.net\n");
  SECTION("by a call") {
    another.reload();
  }
  SECTION("by the signal's event") {
    wakeup.post(Wakeup::kReload);
    const RunningSupervisor runner(another, wakeup);
    for (const char* const want : {"READY=1\n", "RELOADING=1\n", "READY=1\n"}) {
      CHECK_THAT(systemd.wait_for_next(), StartsWith(want));
    }
  }
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(reason("<ann@example.org>") == Reason::revoked);
  CHECK(reason("<vip@example.net>") == Reason::not_listed);
  CHECK(reason("<guest@example.net>") == Reason::listed_extra);
  std::filesystem::remove(sources.extra);
  another.reload();
  CHECK(reason("<guest@example.net>") == Reason::not_listed);
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), Contains("error: reload refused: ") && Contains(sources.extra));
}

TEST_CASE("a folder with constant changes delays a changed list only briefly") {
  Watched s("joe@example.org\n");
  std::atomic<bool> goes_on = true;
  // Somebody keeps putting new lists of further entries in its place.
  std::jthread restless([&] {
    while (goes_on) {
      write_file(s.folder.file("next"), "vip@example.net\n");
      std::filesystem::rename(s.folder.file("next"), s.sources.extra);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  write_file(s.folder.file("new"), "ann@example.org\n");
  std::filesystem::rename(s.folder.file("new"), s.path);
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!s.revoked("<ann@example.org>") && std::chrono::steady_clock::now() < last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  goes_on = false;
  restless.join();
  CHECK(s.revoked("<ann@example.org>"));
}

TEST_CASE("with an invalid list of revoked entries no message is delivered, until the list is fixed") {
  Watched s("joe@example.org\n");
  const std::string spoiled =
      GENERATE(std::string(5000, '\xff'), std::string(5000, '\0'), std::string("\xff\xfe\x01\n"),
               std::string("ann@example.org\nkim@exam\xb0le.org\n"));
  write_file(s.path, spoiled);
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::no_revoked_list; });
  CHECK_THAT(s.systemd.wait_for_next(),
             StartsWith("STATUS=the list revoked cannot be read, so no message is delivered"));
  // The log is written before systemd is told.
  CHECK_THAT(s.log.text(), Contains("error: " + s.path + " is damaged: line "));
  write_file(s.path, "ann@example.org\n");
  Watched::await([&] { return s.reason("<ann@example.org>") == Reason::revoked; });
  CHECK_FALSE(s.revoked("<joe@example.org>"));
}

TEST_CASE("an invalid list of extra entries lists no sender, and the whitelists still do") {
  Watched s("");
  write_file(s.sources.extra, "ann@example.org\n");
  Watched::await([&] { return s.reason("<ann@example.org>") == Reason::listed_extra; });
  write_file(s.sources.extra, std::string(5000, '\xff'));
  Watched::await([&] { return s.reason("<ann@example.org>") == Reason::not_listed; });
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("recipients opt out within a moment, and without their list no message is delivered") {
  Watched s("", "# nobody\n");
  CHECK_FALSE(s.slot.get()->lists().ask_for_recipients());
  write_file(s.sources.opt_out, "ann@ours.example\njoe@example.org > bob@ours.example\n");
  // The recipients of such a message are not known.
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::recipients_unknown; });
  CHECK(s.slot.get()->lists().ask_for_recipients());
  CHECK_THAT(s.systemd.wait_for_next(), Contains("; 1 opt-out entry"));
  CHECK_THAT(s.log.text(), Contains(s.sources.opt_out + ":2: it names a sender; write the recipient alone"));
  std::filesystem::remove(s.sources.opt_out);
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::no_opt_out_list; });
  CHECK(s.slot.get()->lists().ask_for_recipients());
  CHECK_THAT(s.systemd.wait_for_next(),
             StartsWith("STATUS=the list opt-out cannot be read, so no message is delivered"));
  write_file(s.sources.opt_out, "");
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::listed; });
}

TEST_CASE("after a reload that cannot read the revoked entries no message is delivered") {
  Watched s("ann@example.org\n");
  s.runner->end();
  std::filesystem::remove(s.path);
  s.watched->reload();
  CHECK(s.reason("<joe@example.org>") == Reason::no_revoked_list);
  CHECK_THAT(s.log.text(), Contains("error: reload refused: ") && Contains("the list revoked cannot be read"));
  write_file(s.path, "");
  s.watched->reload();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("a list that had entries and is now empty gets a warning") {
  Watched s("joe@example.org\n");
  write_file(s.path, "");
  const std::string warning = "warning: " + s.path + " had 1 entry and is empty now (revoked)";
  Watched::await([&] { return s.log.text().find(warning) != std::string::npos; });
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(s.log.text(), !Contains("had 0 entries"));  // as the other list had before
}

TEST_CASE("without the folder of revoked entries no message is delivered, and a new folder at its path is watched") {
  Watched s("ann@example.org\n");
  const std::string inner = s.folder.file("inner");
  std::filesystem::create_directory(inner);
  s.runner->end();
  s.sources.revoked = inner + "/revoked.txt";
  write_file(s.sources.revoked, "ann@example.org\n");
  s.watched = std::make_unique<Supervisor>(s.sources, s.slot, s.wakeup, s.results, s.log.logger());
  s.watched->load_first();
  s.runner = std::make_unique<RunningSupervisor>(*s.watched, s.wakeup);
  std::filesystem::rename(inner, s.folder.file("old"));
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::no_revoked_list; });
  std::filesystem::create_directory(inner);
  write_file(s.sources.revoked, "joe@example.org\n");
  Watched::await([&] { return s.reason("<joe@example.org>") == Reason::revoked; });
  write_file(s.sources.revoked, "eve@example.org\n");
  Watched::await([&] { return s.reason("<eve@example.org>") == Reason::revoked; });
  // Nobody looks at the one that was moved away.
  write_file(s.folder.file("old") + "/revoked.txt", "joe@example.org\n");
  CHECK_FALSE(s.revoked("<joe@example.org>"));
}

TEST_CASE("a file behind a link is watched") {
  Watched s("joe@example.org\n");
  const TemporaryFolder elsewhere;
  write_file(elsewhere.file("target"), "ann@example.org\n");
  std::filesystem::create_symlink(elsewhere.file("target"), s.folder.file("link"));
  std::filesystem::rename(s.folder.file("link"), s.path);
  Watched::await([&] { return s.revoked("<ann@example.org>"); });
  write_file(elsewhere.file("target"), "eve@example.org\n");
  Watched::await([&] { return s.revoked("<eve@example.org>"); });
}

TEST_CASE("an invalid line is logged with its number, and the rest is used") {
  Watched s("joe@example.org\nno address\n");
  CHECK(s.revoked("<joe@example.org>"));
  CHECK_THAT(s.log.text(), Contains("warning: " + s.path + ":2: ") && !Contains("more lines"));
  CHECK(s.slot.get()->parts().revoked.left_out == 1);
}

TEST_CASE("of many invalid lines, the first are logged, with the number of the others") {
  std::string content = "joe@example.org\n";
  for (std::size_t i = 0; i < ExactListReading::kMostBadLines + 3; ++i) content += "no address\n";
  Watched s(content);
  CHECK(s.revoked("<joe@example.org>"));
  CHECK_THAT(s.log.text(), Contains("warning: " + s.path + ": 3 more lines are not entries and are left out"));
}

TEST_CASE_METHOD(Supervised, "an exact list that cannot be read ends the start") {
  sources.revoked = folder.file("missing");
  Supervisor another(sources, slot, wakeup, results, log.logger());
  CHECK(error_code_of([&] { another.load_first(); }) == ErrorCode::cannot_open);
}

}  // namespace
}  // namespace bloomgate::test
