// Whitelists that a trusted key must have signed, in the daemon: loaded, refused, and the key changed.

#include "filter/keep/sign_filter.hpp"
#include "milter/daemon/supervisor.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/publish.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

const SecretKey& our_key() {
  static const SecretKey kKey = signing_key();
  return kKey;
}
const SecretKey& other_key() {
  static const SecretKey kKey = other_signing_key();
  return kKey;
}

struct Trusting : SupervisorParts {
  Trusting() {
    put("whitelist", {"joe@example.org"}, &our_key());
    trust({our_key().public_key()});
  }

  std::string path(const std::string& name) const { return folder.file(name + ".bloom"); }

  // A new file, signed or not, takes the place of what is there.
  void put(const std::string& name, const std::vector<std::string>& lines, const SecretKey* key) const {
    const std::string made = folder.file("made");
    build_filter(made, lines, {.seed = random_seed()});
    if (key != nullptr) sign_filter(made, made, *key, 1);
    std::filesystem::rename(made, path(name));
    if (key != nullptr) publish(path(name), *key, {.number = ++number_});
  }

  // All layers that are there.
  void publish_layers() const { publish(folder.file("layers"), our_key(), {.number = ++number_}); }

  void trust(const TrustedKeys& keys) { sources = list_options({{"whitelist", path("whitelist"), {}, keys}}); }

  // What the configuration says now; the daemon starts with the first one.
  DaemonOptions sources = list_options({{"whitelist", folder.file("whitelist.bloom"), {}, {our_key().public_key()}}});
  Supervisor supervisor{sources, slot,         wakeup,
                        results, log.logger(), [this] { return NewSettings{.options = sources}; }};
  mutable std::uint64_t number_ = 0;
};

TEST_CASE_METHOD(Trusting, "a whitelist signed by a trusted key is loaded, and the log names its signer") {
  supervisor.load_first();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), Contains("signed by " + std::string(kSigningKeyText)));
}

TEST_CASE_METHOD(
    Trusting,
    "at the start a whitelist without a trusted signature is an error, or is not loaded if it may be missing") {
  put("whitelist", {"eve@example.org"}, GENERATE(as<const SecretKey*>(), nullptr, &other_key()));
  SECTION("an error") {
    CHECK(error_code_of([&] { supervisor.load_first(); }) == ErrorCode::bad_signature);
  }
  SECTION("none") {
    sources.allow_missing_whitelist = true;
    Supervisor another(sources, slot, wakeup, results, log.logger());
    another.load_first();
    CHECK(reason("<eve@example.org>") == Reason::no_whitelist);
  }
}

TEST_CASE_METHOD(Trusting, "a new file without a trusted signature is refused, and the old one continues to serve") {
  supervisor.load_first();
  const auto* const key = GENERATE(as<const SecretKey*>(), nullptr, &other_key());
  put("whitelist", {"eve@example.org"}, key);
  SECTION("seen by the watch") {
    supervisor.reload_changed();
    CHECK_THAT(systemd.next(), StartsWith("STATUS=serving "));
  }
  SECTION("at a reload") {
    CHECK_THAT(status_after_reload(supervisor),
               StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("bloomgate sign"));
  }
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(reason("<eve@example.org>") == Reason::not_listed);
  CHECK_THAT(log.text(), Contains(key == nullptr ? "is not signed" : "which is no trusted key"));
  put("whitelist", {"eve@example.org"}, &our_key());
  supervisor.reload_changed();
  CHECK(reason("<eve@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Trusting,
                 "after a change of the trusted key the whitelist in use continues to serve with the old key") {
  supervisor.load_first();
  trust({other_key().public_key()});
  CHECK_THAT(status_after_reload(supervisor),
             StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("no trusted key"));
  CHECK(reason("<joe@example.org>") == Reason::listed);
  put("whitelist", {"ann@example.org"}, &our_key());
  supervisor.reload_changed();
  systemd.next();
  CHECK(reason("<ann@example.org>") == Reason::listed);

  // The way to change it: both keys, then a file with the new one, then the new one alone.
  trust({our_key().public_key(), other_key().public_key()});
  CHECK_THAT(status_after_reload(supervisor), StartsWith("READY=1\nSTATUS=serving "));
  put("whitelist", {"bob@example.org"}, &other_key());
  supervisor.reload_changed();
  systemd.next();
  CHECK(reason("<bob@example.org>") == Reason::listed);
  trust({other_key().public_key()});
  CHECK_THAT(status_after_reload(supervisor), StartsWith("READY=1\nSTATUS=serving "));
  put("whitelist", {"eve@example.org"}, &our_key());
  supervisor.reload_changed();
  CHECK(reason("<eve@example.org>") == Reason::not_listed);
  CHECK(reason("<bob@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Trusting, "a trusted key that a reload adds is also checked of the whitelist in use") {
  put("whitelist", {"eve@example.org"}, nullptr);
  trust({});
  Supervisor another(sources, slot, wakeup, results, log.logger(), [&] { return NewSettings{.options = sources}; });
  another.load_first();
  CHECK(reason("<eve@example.org>") == Reason::listed);
  trust({our_key().public_key()});
  another.reload();
  CHECK_THAT(log.text(), Contains("reload refused: ") && Contains("is not signed"));
  CHECK(reason("<eve@example.org>") == Reason::listed);
  put("whitelist", {"joe@example.org"}, &our_key());
  another.reload();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(reason("<eve@example.org>") == Reason::not_listed);
}

TEST_CASE_METHOD(Trusting, "a layer counts when a manifest names it, and it must be signed and the one that is named") {
  std::filesystem::create_directory(folder.file("layers"));
  sources = list_options({{"all", folder.file("layers"), {}, {our_key().public_key()}}});
  put("layers/0001", {"joe@example.org"}, &our_key());
  publish_layers();
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  put("layers/0002", {"eve@example.org"}, nullptr);
  put("layers/0003", {"ann@example.org"}, &our_key());
  another.reload_changed();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(reason("<ann@example.org>") == Reason::not_listed);
  CHECK(reason("<eve@example.org>") == Reason::not_listed);
  publish_layers();
  another.reload_changed();
  CHECK(reason("<ann@example.org>") == Reason::not_listed);
  CHECK_THAT(log.text(), Contains("0002.bloom is not signed"));
  sign_filter(path("layers/0002"), path("layers/0002"), our_key(), 1);
  another.reload_changed();
  CHECK_THAT(log.text(), Contains("0002.bloom is not the file that the manifest names"));
  publish_layers();
  another.reload_changed();
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK(reason("<eve@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Trusting, "an old state that comes back is refused, after a restart, too") {
  sources.whitelists.front().taken_manifests = folder.file("taken");
  Supervisor first(sources, slot, wakeup, results, log.logger());
  first.load_first();
  const std::string old_filter = read_file(path("whitelist"));
  const std::string old_manifest = read_file(manifest_path(path("whitelist")));
  put("whitelist", {"ann@example.org"}, &our_key());
  first.reload_changed();
  CHECK(reason("<ann@example.org>") == Reason::listed);
  write_file(folder.file("old"), old_filter);
  std::filesystem::rename(folder.file("old"), path("whitelist"));
  write_file(manifest_path(path("whitelist")), old_manifest);
  first.reload_changed();
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK(reason("<joe@example.org>") == Reason::not_listed);
  CHECK_THAT(log.text(), Contains("an old state has come back"));
  Supervisor restarted(sources, slot, wakeup, results, log.logger());
  CHECK(error_code_of([&] { restarted.load_first(); }) == ErrorCode::bad_input);
}

TEST_CASE_METHOD(Trusting, "a number that cannot be kept is told, and the whitelist serves") {
  sources.whitelists.front().taken_manifests = folder.file("no/such/folder");
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), Contains("taken-manifests: ") && Contains("after a restart an older state"));
}

TEST_CASE_METHOD(Trusting, "a whitelist that becomes too old while it is in use lists no sender from then on") {
  WhitelistSource& source = sources.whitelists.front();
  source.overdue_for = std::chrono::days(1);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  publish(path("whitelist"), our_key(), {.number = 5, .made = now - std::chrono::days(14)});
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  const ListParts in_use = slot.get()->parts();
  ListLoader loader(log.logger());
  CHECK(!loader.without_overdue(sources, in_use, now + std::chrono::hours(23)));
  const auto left = loader.without_overdue(sources, in_use, now + std::chrono::hours(25));
  REQUIRE(left);
  REQUIRE(left->lists.whitelists.size() == 1);
  CHECK(left->lists.whitelists.front().filter == nullptr);
  CHECK_THAT(left->lines.front().text, Contains("is not used any longer"));
}

TEST_CASE_METHOD(Trusting, "what is revoked beside the layers counts as their manifest says") {
  std::filesystem::create_directory(folder.file("layers"));
  sources = list_options({{"all", folder.file("layers"), {}, {our_key().public_key()}}});
  sources.revoked = folder.file("layers/revoked");
  put("layers/0001", {"joe@example.org", "eve@example.org"}, &our_key());
  write_file(sources.revoked, "eve@example.org\n");
  publish_layers();
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(reason("<eve@example.org>") == Reason::revoked);
  // Somebody on the way takes his entry out.
  write_file(sources.revoked, "");
  another.reload_changed();
  CHECK(reason("<eve@example.org>") == Reason::revoked);
  CHECK_THAT(log.text(), Contains("revoked is not the file that the manifest names"));
  // The publisher does.
  publish_layers();
  another.reload_changed();
  CHECK(reason("<eve@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Trusting, "the header's signature is checked even if the rest of the file is not read") {
  const auto load = [&] {
    return load_whitelist_files(sources.whitelists.front(), false, FilterCheck::header).front().filter;
  };
  CHECK(load()->signer() == our_key().public_key());
  put("whitelist", {"eve@example.org"}, nullptr);
  CHECK(error_code_of(load) == ErrorCode::bad_signature);
}

TEST_CASE_METHOD(Trusting, "without a trusted key a signed whitelist is loaded like any other") {
  trust({});
  put("whitelist", {"ann@example.org"}, &other_key());
  supervisor.reload();
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), !Contains("signed by"));
}

}  // namespace
}  // namespace bloomgate::test
