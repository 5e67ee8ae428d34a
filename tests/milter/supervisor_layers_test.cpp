// A whitelist that is a folder of layers, in the daemon: loaded, watched and swapped together.

#include "filter/file/layer_folder.hpp"
#include "filter/layout/sizing.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/service_status.hpp"
#include "milter/supervisor.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"
#include "tests/milter/running_supervisor.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr Policy kEnvelope = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};

struct Layered {
  Layered() {
    install_bus_fault_handler();
    put("0001", {"joe@example.org"});
    put("0002", {"ann@example.org", "@corp.example"});
  }

  std::string path(const std::string& layer) const { return folder.file(layer + ".bloom"); }
  void put(const std::string& layer, const std::vector<std::string>& lines) const {
    test::build_filter(path(layer), lines, {.seed = random_seed()});
    test::make_old(path(layer));
  }

  Decision decision(std::string_view sender) const {
    const auto lists = slot.get();
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "somebody@example.net"};
    return decide({.envelope_sender = sender, .header_from = from}, lists->lists(), kEnvelope);
  }
  Reason reason(std::string_view sender) const { return decision(sender).reason; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const NamedFilter& each : slot.get()->parts().whitelists) names.push_back(each.name);
    return names;
  }
  std::shared_ptr<const LoadedFilter> filter(std::size_t which) const {
    return slot.get()->parts().whitelists.at(which).filter;
  }

  test::NotifySocket systemd;
  test::MemoryLog log;
  test::TemporaryFolder folder;
  ListSources sources{.whitelists = {{"all", folder.path().string()}}};
  ListSlot slot;
  Wakeup wakeup;
  ResultsWatch results;
  Supervisor supervisor{sources, slot, wakeup, results, log.logger()};
};

using Names = std::vector<std::string>;

TEST_CASE("a sender is listed if any layer lists it, and the decision names the layer") {
  Layered s;
  s.supervisor.load_first();
  CHECK(s.names() == Names{"all/0001", "all/0002"});
  CHECK(s.decision("<joe@example.org>").list.view() == "all/0001");
  CHECK(s.decision("<ann@example.org>").list.view() == "all/0002");
  CHECK(s.reason("<who@corp.example>") == Reason::listed_domain);
  CHECK(s.reason("<stranger@example.net>") == Reason::not_listed);
  CHECK_THAT(s.log.text(),
             Contains(s.path("0001")) && Contains(s.path("0002")) && Contains("layers of whitelist all: 2"));
}

TEST_CASE("a non-member takes one look-up in each layer, and the reported rates are of all layers together") {
  Layered s;
  s.supervisor.load_first();
  CHECK(s.decision("<stranger@example.net>").draws.look_ups == 2);
  CHECK(s.decision("<joe@example.org>").draws.look_ups == 1);
  const double rates[] = {s.filter(0)->false_positive_rate(), s.filter(1)->false_positive_rate()};
  CHECK(*false_positive_rate_of_message(*s.slot.get(), IdentityRule::envelope) == Approx(fpr_of_several(rates)));
}

TEST_CASE("hidden files, kept generations and other files of the folder are not layers") {
  Layered s;
  test::write_file(s.folder.file(".0003.bloom.tmp-1"), "half a layer");
  test::write_file(s.folder.file(".0003.bloom"), "half a layer");
  test::write_file(s.folder.file("0002.bloom.1"), "an old one");
  test::write_file(s.folder.file("README"), "no layer");
  s.supervisor.load_first();
  CHECK(s.names() == Names{"all/0001", "all/0002"});
}

TEST_CASE("added, replaced and removed layers take effect together, and unchanged ones are not read again") {
  Layered s;
  s.supervisor.load_first();
  const auto first = s.filter(0);
  s.put("0002", {"eve@example.org"});
  s.put("0003", {"bob@example.org"});
  s.supervisor.reload_changed();
  CHECK(s.names() == Names{"all/0001", "all/0002", "all/0003"});
  CHECK(s.filter(0) == first);
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
  CHECK(s.reason("<bob@example.org>") == Reason::listed);
  CHECK(s.reason("<ann@example.org>") == Reason::not_listed);

  std::filesystem::remove(s.path("0001"));
  s.supervisor.reload_changed();
  CHECK(s.names() == Names{"all/0002", "all/0003"});
  CHECK(s.reason("<joe@example.org>") == Reason::not_listed);
}

TEST_CASE("if a layer cannot be used, the whole change is refused by name, and the old layers stay") {
  Layered s;
  s.supervisor.load_first();
  struct Case {
    std::string_view name;
    std::function<void()> make;
    std::string_view named;
  };
  const Case cases[] = {
      {"foreign", [&] { test::write_file(s.path("0003"), std::string(9000, 'x')); }, "0003.bloom"},
      {"damaged",
       [&] {
         s.put("0003", {"bob@example.org"});
         std::filesystem::resize_file(s.path("0003"), kHeaderBytes);
       },
       "0003.bloom"},
      {"a folder", [&] { std::filesystem::create_directory(s.path("0003")); }, "0003.bloom"},
      {"a name that no header field can have", [&] { s.put("00 03", {"bob@example.org"}); }, "00 03.bloom"},
      {"too many",
       [&] {
         for (std::size_t i = 0; i < kMostLayers; ++i)
           std::filesystem::copy(s.path("0001"), s.path("x" + std::to_string(i)));
       },
       "at most 64"},
      {"empty",
       [&] {
         std::filesystem::remove(s.path("0001"));
         std::filesystem::remove(s.path("0002"));
       },
       "without a layer"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    c.make();
    s.supervisor.reload();
    CHECK(s.names() == Names{"all/0001", "all/0002"});
    CHECK(s.reason("<joe@example.org>") == Reason::listed);
    CHECK(s.reason("<ann@example.org>") == Reason::listed);
    CHECK(s.reason("<bob@example.org>") == Reason::not_listed);
    CHECK_THAT(s.systemd.next(), StartsWith("RELOADING=1\n"));
    CHECK_THAT(s.systemd.next(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains(std::string(c.named)));
    for (const auto& each : std::filesystem::directory_iterator(s.folder.path())) std::filesystem::remove_all(each);
    s.put("0001", {"joe@example.org"});
    s.put("0002", {"ann@example.org"});
    s.supervisor.reload();
    s.systemd.next();
    CHECK_THAT(s.systemd.next(), StartsWith("READY=1\nSTATUS=serving "));
  }
}

TEST_CASE("a layer that has another name now is loaded under that, and one that was damaged is loaded again") {
  Layered s;
  s.supervisor.load_first();
  std::filesystem::rename(s.path("0002"), s.path("0003"));
  s.supervisor.reload_changed();
  CHECK(s.names() == Names{"all/0001", "all/0003"});
  CHECK(s.filter(1)->path() == s.path("0003"));

  s.filter(0)->note_damage(Damage::spoiled);
  CHECK(s.reason("<joe@example.org>") == Reason::whitelist_damaged);
  s.put("0004", {"bob@example.org"});
  s.supervisor.reload_changed();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("a folder without its layers continues to serve, like a removed file") {
  Layered s;
  s.supervisor.load_first();
  std::filesystem::remove(s.path("0001"));
  std::filesystem::remove(s.path("0002"));
  s.supervisor.reload_changed();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(s.log.text(), !Contains("error: "));
}

TEST_CASE("a damaged layer lists no sender, the others still do, and a good file replaces it") {
  Layered s;
  s.supervisor.load_first();
  const auto second = s.filter(1);
  std::filesystem::resize_file(s.path("0001"), kHeaderBytes);
  CHECK(s.reason("<joe@example.org>") == Reason::whitelist_damaged);
  CHECK(s.reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(service_status(*s.slot.get(), IdentityRule::envelope), Contains("damaged: " + s.path("0001")));
  s.put("0001", {"joe@example.org"});
  s.supervisor.reload_changed();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK(s.filter(1) == second);
}

TEST_CASE("the watch notices an added, a replaced and a removed layer") {
  Layered s;
  s.supervisor.load_first();
  const test::RunningSupervisor runner(s.supervisor, s.wakeup);
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=serving "));
  s.put("0003", {"bob@example.org"});
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("STATUS=serving ") && Contains("0003.bloom"));
  CHECK(s.reason("<bob@example.org>") == Reason::listed);
  s.put("0003", {"eve@example.org"});
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("STATUS=serving "));
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
  std::filesystem::remove(s.path("0002"));
  const std::string status = s.systemd.wait_for_next();
  CHECK_THAT(status, StartsWith("STATUS=serving ") && !Contains("0002.bloom"));
  CHECK(s.reason("<ann@example.org>") == Reason::not_listed);
}

TEST_CASE("a folder of layers with a store is refused, with the remedy") {
  const Layered s;
  const WhitelistSource source = {"all", s.folder.path().string(), "/any.store"};
  CHECK(test::error_code_of([&] { load_whitelist_files(source, false, FilterCheck::all); }) ==
        ErrorCode::bad_configuration);
  CHECK_THROWS_WITH(load_whitelist_files(source, false, FilterCheck::all), Contains("take confirm out"));
}

TEST_CASE("a reload that renames the whitelist renames its layers") {
  Layered s;
  ListSources renamed = s.sources;
  renamed.whitelists.front().name = "other";
  Supervisor supervisor(s.sources, s.slot, s.wakeup, s.results, s.log.logger(),
                        [&] { return NewSettings{.sources = renamed}; });
  supervisor.load_first();
  supervisor.reload();
  CHECK(s.names() == Names{"other/0001", "other/0002"});
  renamed.whitelists.front().name = "third";
  test::write_file(s.path("0003"), "no layer");
  supervisor.reload();
  CHECK(s.names() == Names{"third/0001", "third/0002"});
}

}  // namespace
}  // namespace bloomgate
