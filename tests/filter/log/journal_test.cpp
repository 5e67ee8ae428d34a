#include "filter/log/journal.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// A program journalctl that does this.
class OtherJournal : protected InFolder {
 protected:
  OtherJournal() { setenv("PATH", (folder.path().string() + ":" + before_).c_str(), 1); }
  ~OtherJournal() { setenv("PATH", before_.c_str(), 1); }

  void does(const std::string& commands) const {
    write_file(folder.file("journalctl"), "#!/bin/sh\n" + commands + "\n");
    REQUIRE(chmod(folder.file("journalctl").c_str(), 0755) == 0);
  }

 private:
  const std::string before_ = std::getenv("PATH");
};

TEST_CASE_METHOD(OtherJournal, "what journalctl prints for the asked part is read, and its input is empty") {
  does("cat; printf '%s\\n' \"$@\"");
  Journal journal({"--since=@1", "a b"});
  CHECK(read_file(journal.path()) == "--output=short-iso\n--no-pager\n--quiet\n--since=@1\na b\n");
  CHECK_NOTHROW(journal.finish());
}

TEST_CASE_METHOD(OtherJournal, "a journalctl that fails, is ended, or is not there is an error with the remedy") {
  const auto words_of = [](ErrorCode code, const auto& action) {
    const BloomgateError error = error_of(action);
    CHECK(error.code() == code);
    CHECK(error.details().path == "journalctl");
    CHECK_THAT(error.what(), Contains("; name log files instead, such as /var/log/mail.log"));
    return std::string(error.what());
  };
  for (const auto& [commands, how] : {std::pair("exit 3", "exit status 3"), {"kill -9 $$", "a signal"}}) {
    does(commands);
    Journal journal({});
    CHECK_THAT(words_of(ErrorCode::cannot_read, [&] { journal.finish(); }),
               StartsWith(std::string("journalctl ended with ") + how + "; there may be no journal"));
  }
  setenv("PATH", folder.file("none").c_str(), 1);
  CHECK_THAT(words_of(ErrorCode::cannot_open, [] { Journal({}); }), StartsWith("start journalctl: No such file"));
  CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // nothing is left of them
}

TEST_CASE_METHOD(OtherJournal, "a journalctl that is no longer wanted is ended") {
  does("exec tail -f /dev/null");
  {
    const Journal journal({});
  }
  CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
}

}  // namespace
}  // namespace bloomgate::test
