// What is published with a whitelist, in the daemon: the list of what is revoked beside the layers, manifests that
// cannot be remembered, a clock that is wrong for a while, and what needs action because of any of them.

#include <algorithm>
#include <array>
#include <filesystem>

#include "filter/keep/sign_filter.hpp"
#include "milter/daemon/supervisor.hpp"
#include "milter/lists/taken_manifests.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/monitor.hpp"
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

// A folder of one layer, which lists joe, eve and ann, and in which the publisher has revoked eve.
struct PublishedLayers : SupervisorParts {
  PublishedLayers() {
    std::filesystem::create_directory(layers);
    put(layers + "/0001.bloom", {"joe@example.org", "eve@example.org", "ann@example.org"});
    write_file(revoked, "eve@example.org\n");
    publish_all();
  }

  void put(const std::string& path, const std::vector<std::string>& lines) const {
    const std::string made = folder.file("made");
    build_filter(made, lines, {.seed = random_seed()});
    sign_filter(made, made, our_key(), 1);
    std::filesystem::rename(made, path);
  }
  void publish_all() const { publish(layers, our_key(), {.number = ++number}); }

  std::vector<Reason> reasons() const {
    return {reason("<joe@example.org>"), reason("<eve@example.org>"), reason("<ann@example.org>")};
  }

  Supervisor& start() {
    DaemonCommand command = read_daemon_command({"--config", "/dev/null"});
    command.options.whitelists = sources.whitelists;
    command.options.revoked = sources.revoked;
    monitor.set_settings(std::move(command));
    supervisor = std::make_unique<Supervisor>(
        sources, slot, wakeup, results, log.logger(), [this] { return NewSettings{.options = sources}; }, &monitor);
    supervisor->load_first();
    return *supervisor;
  }

  // What the rule has found; empty: nothing.
  std::string found(std::string_view rule) const {
    for (const HealthFinding& each : needs_action(monitor)) {
      if (each.rule == rule) return each.what + " -> " + each.how;
    }
    return {};
  }

  const std::string layers = folder.file("layers");
  const std::string revoked = layers + "/revoked";
  const std::string own = folder.file("own.txt");
  mutable std::uint64_t number = 6;
  DaemonOptions sources = list_options({{"all", layers, {}, {our_key().public_key()}}});
  Monitor monitor{{.lists = slot, .results_missing = [] { return false; }, .lost_log_lines = [] { return 0; }}};
  std::unique_ptr<Supervisor> supervisor;
};

using enum Reason;
using Reasons = std::vector<Reason>;

TEST_CASE_METHOD(PublishedLayers, "what a manifest names as revoked counts without an option, as it is published") {
  Supervisor& daemon = start();
  CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
  write_file(revoked, "joe@example.org\n");
  publish_all();
  daemon.reload_changed();
  CHECK(reasons() == Reasons{Reason::revoked, listed, listed});
  std::filesystem::remove(revoked);
  publish_all();
  daemon.reload_changed();
  CHECK(reasons() == Reasons{listed, listed, listed});
}

TEST_CASE_METHOD(PublishedLayers, "the operator's own list counts beside what is published, and each is read once") {
  sources.revoked = own;
  write_file(own, "ann@example.org\n");
  Supervisor& daemon = start();
  CHECK(reasons() == Reasons{listed, Reason::revoked, Reason::revoked});
  CHECK_THAT(log.text(), Contains("loaded 1 entry of " + own) && Contains("loaded 1 more entry of " + revoked));
  write_file(own, "");
  daemon.reload_changed();
  CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
  std::filesystem::remove(own);
  daemon.reload_changed();
  CHECK(reasons() == Reasons{no_revoked_list, no_revoked_list, no_revoked_list});
}

TEST_CASE_METHOD(PublishedLayers, "a published list that is not as it was signed is refused with its whitelist") {
  SECTION("at the start") {
    write_file(revoked, "");
    CHECK_THROWS_WITH(start(), Contains("revoked is not the file that the manifest names"));
  }
  SECTION("at the start, where there is none") {
    std::filesystem::remove(revoked);
    CHECK_THROWS_WITH(start(), Contains(revoked));
  }
  SECTION("at a change, which needs action until it is good again") {
    Supervisor& daemon = start();
    CHECK(found("reload-refused").empty());
    write_file(revoked, "");
    daemon.reload_changed();
    CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
    CHECK_THAT(found("reload-refused"), Contains("revoked is not the file that the manifest names"));
    publish_all();
    daemon.reload_changed();
    CHECK(reasons() == Reasons{listed, listed, listed});
    CHECK(found("reload-refused").empty());
  }
  SECTION("at a change, while another whitelist is loaded") {
    const std::string other = folder.file("other.bloom");
    sources.whitelists.push_back({"other", other, {}, {our_key().public_key()}});
    put(other, {"bob@example.org"});
    publish(other, our_key());
    Supervisor& daemon = start();
    write_file(revoked, "");
    daemon.reload_changed();
    put(other, {"tom@example.org"});
    publish(other, our_key(), {.number = 2});
    daemon.reload_changed();
    CHECK(reason("<tom@example.org>") == listed);
    CHECK_THAT(found("reload-refused"), Contains("revoked is not the file that the manifest names"));
  }
}

TEST_CASE_METHOD(PublishedLayers, "an option that names the published list, by its path or by links, means that list") {
  const std::string link = folder.file("link"), second = folder.file("second"), linked_folder = folder.file("folder");
  std::filesystem::create_symlink(revoked, link);
  std::filesystem::create_symlink("link", second);
  std::filesystem::create_symlink(layers, linked_folder);
  // Chosen by number: the folder is another one for each.
  const std::array paths = {revoked, link, second, linked_folder + "/revoked"};
  sources.revoked = paths.at(GENERATE(0U, 1U, 2U, 3U));
  Supervisor& daemon = start();
  CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
  CHECK_THAT(log.text(), !Contains("more entries"));
  write_file(revoked, "");
  daemon.reload_changed();
  daemon.reload();
  CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
}

TEST_CASE_METHOD(PublishedLayers, "a link in the place of the published list does not hide the operator's own") {
  sources.revoked = own;
  write_file(own, "ann@example.org\n");
  Supervisor& daemon = start();
  std::filesystem::remove(revoked);
  std::filesystem::create_symlink(own, revoked);
  daemon.reload_changed();
  CHECK(reasons() == Reasons{listed, Reason::revoked, Reason::revoked});
}

TEST_CASE_METHOD(PublishedLayers, "before the first pull the daemon starts without whitelist and published list") {
  const bool has_folder = GENERATE(true, false);
  const std::string kept = folder.file("kept");
  std::filesystem::rename(layers, kept);
  if (has_folder) std::filesystem::create_directory(layers);
  sources.revoked = revoked;
  SECTION("not if the whitelist may not be missing") {
    CHECK_THROWS(start());
  }
  SECTION("if it may, until both are there") {
    sources.allow_missing_whitelist = true;
    Supervisor& daemon = start();
    CHECK(reasons() == Reasons{no_revoked_list, no_revoked_list, no_revoked_list});
    CHECK_THAT(log.text(), Contains("starting without the list revoked"));
    CHECK_THAT(found("exact-list-lost"), Contains("the daemon delivers no message"));
    if (has_folder) std::filesystem::remove(layers);
    std::filesystem::rename(kept, layers);
    daemon.reload_changed();
    CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
    CHECK(found("exact-list-lost").empty());
  }
}

TEST_CASE_METHOD(PublishedLayers, "a clock that is wrong for a while takes a whitelist away for that while") {
  ListLoader loader(log.logger());
  ListLoader::Loaded loaded = loader.load({.wanted = sources});
  const WhitelistSource& source = sources.whitelists.front();
  const auto now = std::chrono::system_clock::now();
  const auto wrong = now + std::chrono::days(100);
  CHECK(!loader.is_replaced(source, now));
  auto left = loader.without_overdue(sources, loaded.lists, wrong);
  REQUIRE(left);
  CHECK(left->lists.whitelists.front().filter == nullptr);
  CHECK_THAT(left->lines.front().text, Contains("by the clock of this machine"));
  CHECK(!loader.is_replaced(source, wrong));
  CHECK(loader.is_replaced(source, now));
  loaded = loader.load(
      {.wanted = sources, .whitelists = ReadWhitelists::replaced, .known = &sources, .in_use = left->lists});
  REQUIRE(loaded.refused.empty());
  CHECK(loaded.lists.whitelists.front().filter != nullptr);
  CHECK(!loader.is_replaced(source, now));
}

TEST_CASE_METHOD(PublishedLayers, "what a whitelist has revoked stays revoked when it is too old to be used") {
  ListLoader loader(log.logger());
  const ListLoader::Loaded loaded = loader.load({.wanted = sources});
  const auto wrong = std::chrono::system_clock::now() + std::chrono::days(100);
  const auto left = loader.without_overdue(sources, loaded.lists, wrong);
  REQUIRE(left);
  const ListLoader::Loaded again =
      loader.load({.wanted = sources, .whitelists = ReadWhitelists::none, .known = &sources, .in_use = left->lists});
  REQUIRE(again.lists.revoked.list);
  CHECK(again.lists.revoked.list->find(canonicalize_path("<eve@example.org>")).is_listed());
}

TEST_CASE_METHOD(PublishedLayers, "a manifest that cannot be remembered needs action, until it is remembered") {
  WhitelistSource& source = sources.whitelists.front();
  source.taken_manifests = folder.file("memory/taken");
  start();
  CHECK(reasons() == Reasons{listed, Reason::revoked, listed});
  CHECK_THAT(found("manifests-not-kept"), Contains("whitelist all") && Contains(source.taken_manifests));
  CHECK(!ListLoader::with_remembered(sources, slot.get()->parts()));
  std::filesystem::create_directory(folder.file("memory"));
  const auto remembered = ListLoader::with_remembered(sources, slot.get()->parts());
  REQUIRE(remembered);
  slot.set(std::make_shared<const LoadedLists>(remembered->lists));
  CHECK(found("manifests-not-kept").empty());
  publish(layers, our_key(), {.number = number - 1});
  CHECK_THROWS_WITH(usable_manifest(source, std::chrono::system_clock::now()), Contains("was taken before"));
}

}  // namespace
}  // namespace bloomgate::test
