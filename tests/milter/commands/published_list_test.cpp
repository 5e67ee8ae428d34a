// Commands of an operator about a list that is published with a whitelist: they do as the daemon does with it.
#include <filesystem>
#include <sstream>

#include "filter/keep/sign_filter.hpp"
#include "milter/commands/commands.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/publish.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

// A folder of layers that is published with a list of what is revoked, and a configuration that trusts its key.
struct PublishedFolder : InFolder {
  PublishedFolder() {
    std::filesystem::create_directory(layers);
    build_filter(layers + "/0001.bloom", {"joe@example.org", "eve@example.org"});
    sign_filter(layers + "/0001.bloom", layers + "/0001.bloom", signing_key(), 1);
    write_file(revoked, "eve@example.org\n");
    publish(layers, signing_key());
  }

  DaemonCommand command(std::vector<std::string> words, const std::string& settings) const {
    write_file(config, "whitelist = " + layers + "\ntrusted-key = " + kSigningKeyText +
                           "\ntaken-manifests = " + folder.file("taken") + "\nsocket = unix:" + folder.file("socket") +
                           "\nlookup-socket =\nmetrics =\n" + settings + "\n");
    words.insert(words.end(), {"--config", config});
    return read_daemon_command(words);
  }
  std::string edit(const std::string& how, const std::string& path) const {
    std::ostringstream out;
    edit_list(command({how, "joe@example.org"}, "revoked = " + path), out);
    return out.str();
  }
  std::string checked(const std::string& settings) const {
    std::ostringstream out;
    check_config(command({"--check-config"}, settings), out);
    return out.str();
  }
  std::string explained(const std::string& sender, const std::string& settings) const {
    std::ostringstream out;
    explain(command({"--explain", "--from", sender}, settings), nullptr, out);
    return out.str();
  }

  const std::string config = folder.file("conf");
  const std::string layers = folder.file("layers");
  const std::string revoked = layers + "/revoked";
};

TEST_CASE_METHOD(PublishedFolder, "revoke and unrevoke leave a published list alone, and say where to change it") {
  const std::string link = folder.file("link");
  std::filesystem::create_symlink(revoked, link);
  for (const std::string& path : {revoked, link}) {
    for (const char* const how : {"revoke", "unrevoke"}) {
      CHECK_THROWS_WITH(edit(how, path), Contains(config + ": revoked: " + path + " is published with whitelist") &&
                                             Contains("Nothing was changed") &&
                                             Contains("bloomgate sign --key KEYFILE") &&
                                             EndsWith(", which counts beside what is published"));
    }
  }
  CHECK(read_file(revoked) == "eve@example.org\n");
}

TEST_CASE_METHOD(PublishedFolder, "revoke changes the operator's own list, which counts beside the published one") {
  const std::string own = folder.file("own.txt");
  write_file(own, "");
  CHECK_THAT(edit("revoke", own), Contains("joe@example.org: is in the list revoked now"));
  for (const char* const sender : {"joe@example.org", "eve@example.org"}) {
    CHECK_THAT(explained(sender, "revoked = " + own), Contains("reason=revoked"));
  }
  CHECK_THAT(explained("eve@example.org", ""), Contains("reason=revoked"));
}

TEST_CASE_METHOD(PublishedFolder, "the check of the configuration refuses a published list as the daemon does") {
  CHECK_THAT(checked(""), Contains("revoked " + revoked + ": 1 entry"));
  CHECK_THAT(checked("revoked = " + revoked), Contains("revoked " + revoked + ": 1 entry"));
  SECTION("that is not as it was signed") {
    write_file(revoked, "");
    CHECK_THROWS_WITH(checked("revoked = " + revoked), Contains("is not the file that the manifest names"));
    CHECK_THROWS_WITH(checked(""), Contains("is not the file that the manifest names"));
  }
  SECTION("that its manifest does not name") {
    std::filesystem::remove(revoked);
    publish(layers, signing_key(), {.number = 2});
    write_file(revoked, "");
    CHECK_THROWS_WITH(checked("revoked = " + revoked), Contains("does not name revoked"));
    CHECK_THROWS_WITH(checked("extra = " + layers + "/0001.bloom"), Contains("0001.bloom"));
    CHECK_NOTHROW(checked(""));
  }
  SECTION("but not before the first pull, if the whitelist may be missing") {
    std::filesystem::remove_all(layers);
    std::filesystem::create_directory(layers);
    const std::string settings = "revoked = " + revoked;
    CHECK_THROWS(checked(settings));
    CHECK_THAT(checked(settings + "\nallow-missing-whitelist = yes"),
               Contains("revoked: it comes with a whitelist that is allowed to be missing"));
  }
}

}  // namespace
}  // namespace bloomgate::test
