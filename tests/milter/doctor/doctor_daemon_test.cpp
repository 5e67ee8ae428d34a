// What --doctor finds of the daemon's own socket and files. With a real daemon: tests/e2e/test_doctor.py.
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "filter/file/secret_key.hpp"
#include "filter/keep/sign_filter.hpp"
#include "filter/learned/learned_file.hpp"
#include "milter/doctor/doctor_access.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/milter/doctor/shown_findings.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;
using fs::perms;

// Files in a folder that every user may look into.
struct OpenFolder : InFolder {
  OpenFolder() { fs::permissions(folder.path(), perms(0755)); }

  std::string put(const std::string& name, unsigned mode = 0644, const std::string& text = "") const {
    write_file(folder.file(name), text);
    fs::permissions(folder.file(name), perms(mode));
    return folder.file(name);
  }
};

const std::string kBloomgate = ", the user that the daemon runs as";

TEST_CASE_METHOD(OpenFolder, "what a user may do follows from the bits of a file and of each folder above it") {
  const std::string file = put("file", 0604);
  CHECK(user_may("nobody", file, R_OK));
  CHECK_FALSE(user_may("nobody", file, W_OK));
  CHECK_FALSE(user_may("no-such-user", file, R_OK));
  CHECK_FALSE(user_may("root", folder.file("missing"), R_OK));
  CHECK(user_may("root", put("closed", 0000), W_OK));
  CHECK_FALSE(user_may("nobody", put("closed", 0640), R_OK));
  const std::string inner = folder.file("inner");
  fs::create_directory(inner);
  write_file(inner + "/file", "");
  CHECK(user_may("nobody", inner + "/file", R_OK));
  fs::permissions(inner, perms(0744));
  CHECK_FALSE(user_may("nobody", inner + "/file", R_OK));
  CHECK(user_exists("nobody"));
  CHECK_FALSE(user_exists("no-such-user"));
  if (geteuid() != 0) return;
  // Only the bits of the owner count for the owner, and only those of the group for its members.
  const passwd nobody = *getpwnam("nobody");
  REQUIRE(chown(put("owned", 0477).c_str(), nobody.pw_uid, 0) == 0);
  CHECK(user_may("nobody", folder.file("owned"), R_OK));
  CHECK_FALSE(user_may("nobody", folder.file("owned"), W_OK));
  REQUIRE(chown(put("shared", 0747).c_str(), 0, nobody.pw_gid) == 0);
  CHECK(user_may("nobody", folder.file("shared"), R_OK));
  CHECK_FALSE(user_may("nobody", folder.file("shared"), W_OK));
}

TEST_CASE_METHOD(OpenFolder, "the program that listens is asked as a mail server does, and its user is found") {
  DaemonOptions options = {};
  options.socket = {SocketAddress::Family::unix_path, folder.file("s"), {}, {}};
  const std::string name = "unix:" + folder.file("s");
  std::string user;
  const auto found = [&] {
    std::vector<DoctorFinding> findings;
    user = examine_listener(options, findings);
    return findings;
  };
  CHECK(shown(found()).at(0) == "problem socket: nothing listens on " + name);
  CHECK(user == kDaemonUser);
  {
    LoopbackServer milter(plays_milter(), folder.file("s"));
    check_found(found(), {"ok socket: the daemon answers on " + name});
    CHECK(user == getpwuid(geteuid())->pw_name);
  }
  fs::remove(folder.file("s"));
  for (const char* const reply : {"", "\0\0\0\0", "220 mx ESMTP"}) {
    LoopbackServer other(replies(reply), folder.file("s"));
    check_found(found(), {"problem socket: what listens on " + name + " does not answer a mail server"});
    fs::remove(folder.file("s"));
  }
  LoopbackServer milter(plays_milter());
  options.socket = milter.address();
  check_found(found(), {"ok socket: the daemon answers on inet:" + milter.address().port + "@127.0.0.1"});
  CHECK(user == kDaemonUser);
  options.socket = {SocketAddress::Family::unix_path, folder.file("none/s"), {}, {}};
  const DoctorFinding missing = found().at(0);
  CHECK_THAT(missing.text, EndsWith("/none/s: the folder " + folder.file("none") + " is not there"));
  CHECK_THAT(missing.remedy, EndsWith("install -d -o bloomgate -g bloomgate " + folder.file("none")));
  options.socket.path = std::string(300, 'x');
  CHECK(shown(found()).at(0).starts_with("problem socket: nothing listens on unix:xxx"));
}

struct Whitelists : OpenFolder {
  std::vector<DoctorFinding> found(const WhitelistSource& source, const std::string& user = "nobody",
                                   const std::vector<std::string>& fingerprints = {}) const {
    DaemonOptions options = {};
    options.whitelists = {source};
    std::vector<DoctorFinding> findings;
    examine_whitelists(options, fingerprints, user, findings);
    return findings;
  }
  // A whitelist of three entries that every user may read.
  std::string build(const std::string& name, const BuildOptions& options = {.seed = 42}) const {
    build_filter(folder.file(name), {"joe@example.org", "ann@example.org", "@corp.example"}, options);
    fs::permissions(folder.file(name), perms(0644));
    return folder.file(name);
  }
};

TEST_CASE_METHOD(Whitelists,
                 "a whitelist is shown with its size, its age and its fingerprint, and its faults are found") {
  const std::string path = build("w.bloom");
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const std::string good = shown(found({"w", path})).at(0);
  CHECK_THAT(good, StartsWith("ok whitelist: " + path + ": its header is good, 3 entries, 1 day old, fingerprint "));
  const std::string fingerprint = good.substr(good.rfind(' ') + 1);
  check_found(found({"w", path}, "nobody", {"other", fingerprint}), {good});
  check_found(found({"w", path}, "nobody", {"other"}),
              {good, "problem whitelist: " + path + " is another one than on the other servers: its fingerprint is " +
                         fingerprint});
  fs::permissions(path, perms(0602));
  check_found(found({"w", path}), {good, "problem permissions: " + path + " can be written by everybody",
                                   "problem permissions: " + path + " cannot be read by nobody" + kBloomgate});
  check_found(found({"w", path}, "no-such-user"),
              {good, "problem permissions: " + path + " can be written by everybody"});
  // What else is wrong with it, milter/health says.
  write_file(path, "no filter");
  fs::permissions(path, perms(0644));
  CHECK(found({"w", path}).empty());
  build_filter(path, {"a@b.example > c@d.example"}, {.seed = 42});
  CHECK_THAT(shown(found({"w", path})).at(0), Contains(": its header is good, 1 entry, with pairs, 0 days old"));
}

TEST_CASE_METHOD(Whitelists, "a whitelist that is not there is found with its folder or without") {
  const auto missing = found({"w", folder.file("w")});
  check_found(missing, {"problem whitelist: " + folder.file("w") + " cannot be found: No such file or directory"});
  CHECK(missing[0].remedy == "build it: bloomgate build --output " + folder.file("w") + " LIST...");
  const auto without_folder = found({"w", folder.file("none/w")});
  check_found(without_folder,
              {"problem whitelist: " + folder.file("none/w") + " cannot be found: its folder is not there"});
  CHECK_THAT(without_folder[0].remedy,
             StartsWith("make it: install -d") && Contains(folder.file("none") + "; then build"));
  put("file");
  check_found(found({"w", folder.file("file/w")}),
              {"problem whitelist: " + folder.file("file/w") + " cannot be found: Not a directory"});
}

TEST_CASE_METHOD(Whitelists, "a whitelist that no trusted key has signed is found") {
  const std::string path = build("w.bloom");
  const WhitelistSource source = {.name = "w", .path = path, .trusted_keys = {signing_key().public_key()}};
  sign_filter(path, path, other_signing_key(), 1);
  CHECK(found(source).at(0).subject == "whitelist");
  CHECK_THAT(found(source).at(0).remedy, Contains("add that key to trusted-key"));
  sign_filter(path, path, signing_key(), 1);
  CHECK_THAT(shown(found(source)).at(0), StartsWith("ok whitelist: "));
}

TEST_CASE_METHOD(Whitelists, "a store has to be that of its whitelist, and readable for the daemon") {
  const std::string store = folder.file("w.store");
  const std::string path = build("w.bloom", {.seed = 42, .store_path = store});
  fs::permissions(store, perms(0644));
  const std::string whitelist = "ok whitelist: " + path + ": its header is good, 3 entries*";
  check_found(found({"w", path, store}),
              {whitelist, "ok confirm: " + store + " confirms what " + path + " finds: 2 addresses*"});
  fs::permissions(store, perms(0600));
  check_found(found({"w", path, store}),
              {whitelist, "ok confirm: *", "problem permissions: " + store + " cannot be read by nobody" + kBloomgate});
  fs::remove(store);
  const auto missing = found({"w", path, store});
  REQUIRE(missing.size() == 2);
  CHECK_THAT(shown(missing)[1], StartsWith("problem confirm: ") && Contains(store));
  CHECK_THAT(missing[1].remedy, Contains("bloomgate build --output " + path + " --store " + store));
}

TEST_CASE_METHOD(Whitelists, "each layer of a folder is examined, and a folder with many of them is a warning") {
  const std::string layers = folder.file("layers");
  fs::create_directory(layers);
  check_lines({shown(found({"w", layers})).at(0).substr(0, 18)}, {"problem whitelist:"});
  const std::string first = build("layers/1.bloom");
  for (int i = 2; i <= 48; ++i) fs::create_hard_link(first, layers + "/" + std::to_string(i) + ".bloom");
  CHECK(found({"w", layers}).size() == 48);
  fs::create_hard_link(first, layers + "/49.bloom");
  const std::vector<std::string> lines = shown(found({"w", layers}));
  REQUIRE(lines.size() == 50);
  CHECK_THAT(lines[0], StartsWith("ok whitelist: " + first + ": its header is good, 3 entries"));
  CHECK(lines[49] == "warning whitelist: " + layers + " has 49 layers, of at most 64");
  for (int i = 2; i <= 49; ++i) fs::remove(layers + "/" + std::to_string(i) + ".bloom");
  check_found(found({"w", layers, folder.file("store")}),
              {"problem confirm: " + layers + " is a folder of layers, which no store can confirm", lines[0]});
  const auto unsigned_one = found({.name = "w", .path = layers, .trusted_keys = {signing_key().public_key()}});
  CHECK(shown(unsigned_one).at(0).starts_with("problem whitelist: "));
}

TEST_CASE_METHOD(OpenFolder, "each exact list is looked for, and it is said what the daemon does without it") {
  DaemonOptions options = {};
  const std::string path = folder.file("list");
  const auto found = [&](std::vector<DoctorFinding> findings = {}) {
    examine_exact_lists(options, "nobody", findings);
    return findings;
  };
  CHECK(found().empty());
  for (const auto& [name, means] : {std::pair{"revoked", "; the daemon delivers no message without it"},
                                    {"extra", "; it lists no sender"},
                                    {"opt-out", "; the daemon delivers no message without it"}}) {
    const std::string subject = name;
    options.revoked = subject == "revoked" ? path : "";
    options.extra = subject == "extra" ? path : "";
    options.opt_out = subject == "opt-out" ? path : "";
    check_found(found(), {"problem " + subject + ": " + path + " cannot be found: No such file or directory" + means});
    CHECK_THAT(found()[0].remedy, EndsWith("install -m 644 /dev/null " + path));
    put("list", 0644);
    check_found(found(), {"ok " + subject + ": " + path + " is there"});
    const DoctorFinding lost = {DoctorFinding::Level::problem, "exact-list-lost", "the list " + subject + " is lost"};
    CHECK(found({lost}).size() == 1);
    CHECK(found({{DoctorFinding::Level::problem, "exact-list-lost", "the list other is lost"}}).size() == 2);
    CHECK(found({{DoctorFinding::Level::problem, "other-rule", lost.text}}).size() == 2);
    put("list", 0640);
    check_found(found(), {"problem permissions: " + path + " cannot be read by nobody" + kBloomgate});
    fs::remove(path);
    fs::create_directory(path);
    check_found(found(), {"problem " + subject + ": " + path + " is not a regular file" + means});
    fs::remove(path);
  }
}

TEST_CASE_METHOD(OpenFolder, "where taken manifests are kept, the daemon's user has to be able to read and write") {
  DaemonOptions options = {};
  options.whitelists = {{.name = "v", .path = folder.file("v"), .taken_manifests = folder.file("none")},
                        {.name = "w",
                         .path = folder.file("w"),
                         .trusted_keys = {signing_key().public_key()},
                         .taken_manifests = folder.file("taken")}};
  const auto found = [&](const std::string& user) {
    std::vector<DoctorFinding> findings;
    examine_taken_manifests(options, user, findings);
    return findings;
  };
  check_found(found("nobody"), {"problem taken-manifests: " + folder.path().string() +
                                " cannot be written to by nobody, the user that the daemon runs as: after a restart*"});
  fs::permissions(folder.path(), perms(0777));
  check_found(found("nobody"), {"ok taken-manifests: " + folder.file("taken") + " is where taken manifests are kept"});
  put("taken", 0600);
  check_found(found("nobody"), {"problem taken-manifests: " + folder.file("taken") + " cannot be read by nobody*"});
  CHECK(found("nobody")[0].remedy == "chown bloomgate:bloomgate " + folder.file("taken"));
  put("taken", 0644);
  check_found(found("nobody"), {"ok taken-manifests: *"});
  CHECK(found("no-such-user").empty());
  options.whitelists.back().taken_manifests = folder.file("none/taken");
  CHECK(found("root").empty());
  options.whitelists.back().taken_manifests = "";
  CHECK(found("root").empty());
}

TEST_CASE_METHOD(OpenFolder, "the daemon's user has to be able to write what it learns") {
  DaemonOptions options = {};
  options.learn = DaemonOptions::Learn::outbound;
  options.learn_file = folder.file("learned.db");
  const auto found = [&](const std::string& user) {
    std::vector<DoctorFinding> findings;
    examine_learning(options, user, findings);
    return findings;
  };
  const std::string nothing = " cannot be written to by nobody, the user that the daemon runs as: nothing is learned";
  check_found(found("nobody"), {"problem learn: " + folder.path().string() + nothing});
  check_found(found("root"), {"ok learn: " + options.learn_file + " is not there yet: the daemon makes it"});
  LearnedFile(options.learn_file, LearnedFile::Access::create);
  check_found(found("root"), {"ok learn: " + options.learn_file + ": 0 pairs of a user and a correspondent"});
  fs::permissions(folder.path(), perms(0777));
  fs::permissions(options.learn_file, perms(0644));
  check_found(found("nobody"), {"problem learn: " + options.learn_file + nothing});
  check_found(found("no-such-user"), {"ok learn: *"});
  write_file(options.learn_file, "no database, but some text");
  CHECK_THAT(shown(found("root")).at(0), StartsWith("problem learn: ") && Contains("learned.db"));
  options.learn_file = "/proc/learned.db";
  check_found(found("root"), {"problem learn: the disk of /proc has less than 1 MiB of room*"});
  options.learn_file = folder.file("none/learned.db");
  check_found(found("root"), {"problem learn: " + folder.file("none") + " cannot be found: No such file or directory"});
  CHECK(found("root")[0].remedy.ends_with("install -d -o bloomgate -g bloomgate " + folder.file("none")));
  options.learn = DaemonOptions::Learn::none;
  CHECK(found("root").empty());
}

TEST_CASE_METHOD(OpenFolder, "a configuration that everybody may write is a problem") {
  const auto found = [&](const std::string& path) {
    std::vector<DoctorFinding> findings;
    examine_settings({.config_path = path}, findings);
    if (geteuid() != 0) findings.erase(findings.begin());
    return findings;
  };
  const std::string path = put("conf", 0664);
  check_found(found(path), {"ok configuration: " + path + " is good"});
  put("conf", 0602);
  check_found(found(path), {"ok configuration: " + path + " is good",
                            "problem permissions: " + path + " can be written by everybody"});
  CHECK(found("/dev/null").size() == 1);
}

}  // namespace
}  // namespace bloomgate::test
