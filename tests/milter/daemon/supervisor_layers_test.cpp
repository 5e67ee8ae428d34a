// A whitelist that is a folder of layers, in the daemon: loaded, watched and swapped together.

#include "filter/keep/layer_folder.hpp"
#include "filter/layout/sizing.hpp"
#include "milter/daemon/supervisor.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/service_status.hpp"
#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

struct Layered : SupervisorParts {
  Layered() {
    put("0001", {"joe@example.org"});
    put("0002", {"ann@example.org", "@corp.example"});
  }

  std::string path(const std::string& layer) const { return folder.file(layer + ".bloom"); }
  void put(const std::string& layer, const std::vector<std::string>& lines) const {
    build_filter(path(layer), lines, {.seed = random_seed()});
    make_old(path(layer));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const NamedFilter& each : slot.get()->parts().whitelists) names.push_back(each.name);
    return names;
  }

  DaemonOptions sources = list_options({{"all", folder.path().string()}});
  Supervisor supervisor{sources, slot, wakeup, results, log.logger()};
};

struct Serving : Layered {
  Serving() { supervisor.load_first(); }
};

using Names = std::vector<std::string>;

TEST_CASE_METHOD(Serving, "a sender is listed if any layer lists it, and the decision names the layer") {
  CHECK(names() == Names{"all/0001", "all/0002"});
  CHECK(decision("<joe@example.org>").list.view() == "all/0001");
  CHECK(decision("<ann@example.org>").list.view() == "all/0002");
  CHECK(reason("<who@corp.example>") == Reason::listed_domain);
  CHECK(reason("<stranger@example.net>") == Reason::not_listed);
  CHECK_THAT(log.text(), Contains(path("0001")) && Contains(path("0002")) && Contains("layers of whitelist all: 2"));
}

TEST_CASE_METHOD(Serving,
                 "a non-member takes one look-up in each layer, and the reported rates are of all layers together") {
  CHECK(decision("<stranger@example.net>").draws.look_ups == 2);
  CHECK(decision("<joe@example.org>").draws.look_ups == 1);
  const double rates[] = {filter(0)->false_positive_rate(), filter(1)->false_positive_rate()};
  CHECK(*false_positive_rate_of_message(*slot.get(), IdentityRule::envelope) == Approx(fpr_of_several(rates)));
}

TEST_CASE_METHOD(Layered, "hidden files, kept generations and other files of the folder are not layers") {
  write_file(folder.file(".0003.bloom.tmp-1"), "half a layer");
  write_file(folder.file(".0003.bloom"), "half a layer");
  write_file(folder.file("0002.bloom.1"), "an old one");
  write_file(folder.file("README"), "no layer");
  supervisor.load_first();
  CHECK(names() == Names{"all/0001", "all/0002"});
}

TEST_CASE_METHOD(Serving,
                 "added, replaced and removed layers take effect together, and unchanged ones are not read again") {
  const auto first = filter(0);
  put("0002", {"eve@example.org"});
  put("0003", {"bob@example.org"});
  supervisor.reload_changed();
  CHECK(names() == Names{"all/0001", "all/0002", "all/0003"});
  CHECK(filter(0) == first);
  CHECK(reason("<eve@example.org>") == Reason::listed);
  CHECK(reason("<bob@example.org>") == Reason::listed);
  CHECK(reason("<ann@example.org>") == Reason::not_listed);

  std::filesystem::remove(path("0001"));
  supervisor.reload_changed();
  CHECK(names() == Names{"all/0002", "all/0003"});
  CHECK(reason("<joe@example.org>") == Reason::not_listed);
}

TEST_CASE_METHOD(Serving, "if a layer cannot be used, the whole change is refused by name, and the old layers stay") {
  struct Case {
    std::string_view name;
    std::function<void()> make;
    std::string_view named;
  };
  const Case cases[] = {
      {"foreign", [&] { write_file(path("0003"), std::string(9000, 'x')); }, "0003.bloom"},
      {"damaged",
       [&] {
         put("0003", {"bob@example.org"});
         std::filesystem::resize_file(path("0003"), kHeaderBytes);
       },
       "0003.bloom"},
      {"a folder", [&] { std::filesystem::create_directory(path("0003")); }, "0003.bloom"},
      {"a name that no header field can have", [&] { put("00 03", {"bob@example.org"}); }, "00 03.bloom"},
      {"too many",
       [&] {
         for (std::size_t i = 0; i < kMostLayers; ++i)
           std::filesystem::copy(path("0001"), path("x" + std::to_string(i)));
       },
       "at most 64"},
      {"empty",
       [&] {
         std::filesystem::remove(path("0001"));
         std::filesystem::remove(path("0002"));
       },
       "without a layer"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    c.make();
    supervisor.reload();
    CHECK(names() == Names{"all/0001", "all/0002"});
    CHECK(reason("<joe@example.org>") == Reason::listed);
    CHECK(reason("<ann@example.org>") == Reason::listed);
    CHECK(reason("<bob@example.org>") == Reason::not_listed);
    CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\n"));
    CHECK_THAT(systemd.next(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains(std::string(c.named)));
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove_all(each);
    put("0001", {"joe@example.org"});
    put("0002", {"ann@example.org"});
    supervisor.reload();
    systemd.next();
    CHECK_THAT(systemd.next(), StartsWith("READY=1\nSTATUS=serving "));
  }
}

TEST_CASE_METHOD(Serving,
                 "a layer that has another name now is loaded under that, and one that was damaged is loaded again") {
  std::filesystem::rename(path("0002"), path("0003"));
  supervisor.reload_changed();
  CHECK(names() == Names{"all/0001", "all/0003"});
  CHECK(filter(1)->path() == path("0003"));

  filter(0)->note_damage(Damage::spoiled);
  CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
  put("0004", {"bob@example.org"});
  supervisor.reload_changed();
  CHECK(reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Serving, "a folder without its layers continues to serve, like a removed file") {
  std::filesystem::remove(path("0001"));
  std::filesystem::remove(path("0002"));
  supervisor.reload_changed();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), !Contains("error: "));
}

TEST_CASE_METHOD(Serving, "a damaged layer lists no sender, the others still do, and a good file replaces it") {
  const auto second = filter(1);
  std::filesystem::resize_file(path("0001"), kHeaderBytes);
  CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(service_status(*slot.get(), IdentityRule::envelope), Contains("damaged: " + path("0001")));
  put("0001", {"joe@example.org"});
  supervisor.reload_changed();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK(filter(1) == second);
}

TEST_CASE_METHOD(Serving, "the watch notices an added, a replaced and a removed layer") {
  const RunningSupervisor runner(supervisor, wakeup);
  CHECK_THAT(systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=serving "));
  put("0003", {"bob@example.org"});
  CHECK_THAT(systemd.wait_for_next(), StartsWith("STATUS=serving ") && Contains("0003.bloom"));
  CHECK(reason("<bob@example.org>") == Reason::listed);
  put("0003", {"eve@example.org"});
  CHECK_THAT(systemd.wait_for_next(), StartsWith("STATUS=serving "));
  CHECK(reason("<eve@example.org>") == Reason::listed);
  std::filesystem::remove(path("0002"));
  const std::string status = systemd.wait_for_next();
  CHECK_THAT(status, StartsWith("STATUS=serving ") && !Contains("0002.bloom"));
  CHECK(reason("<ann@example.org>") == Reason::not_listed);
}

TEST_CASE_METHOD(Layered, "a folder of layers with a store is refused, with the remedy") {
  const WhitelistSource source = {"all", folder.path().string(), "/any.store"};
  CHECK(error_code_of([&] { load_whitelist_files(source, false, FilterCheck::all); }) == ErrorCode::bad_configuration);
  CHECK_THROWS_WITH(load_whitelist_files(source, false, FilterCheck::all), Contains("take confirm out"));
}

TEST_CASE_METHOD(Layered, "a reload that renames the whitelist renames its layers") {
  DaemonOptions renamed = sources;
  renamed.whitelists.front().name = "other";
  Supervisor another(sources, slot, wakeup, results, log.logger(), [&] { return NewSettings{.options = renamed}; });
  another.load_first();
  another.reload();
  CHECK(names() == Names{"other/0001", "other/0002"});
  renamed.whitelists.front().name = "third";
  write_file(path("0003"), "no layer");
  another.reload();
  CHECK(names() == Names{"third/0001", "third/0002"});
}

}  // namespace
}  // namespace bloomgate::test
