// What a manifest names is what is used: the file that was opened, whatever is put in its place meanwhile; and lists
// that are made of several texts.
#include "milter/lists/published_lists.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "filter/keep/sign_filter.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/publish.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

struct PublishedWhitelist : InFolder {
  void make(const std::string& path, const std::vector<std::string>& lines) const {
    build_filter(path, lines, {.seed = 3});
    sign_filter(path, path, signing_key(), 1);
  }
  std::vector<NamedFilter> load(const std::vector<NamedFilter>& in_use = {}) const {
    return load_whitelist_files(source, false, FilterCheck::all, in_use);
  }
  std::string refusal() const {
    try {
      load();
    } catch (const BloomgateError& error) {
      return error.what();
    }
    return "none";
  }

  WhitelistSource source = {.name = "w", .path = folder.file("w.bloom"), .trusted_keys = {signing_key().public_key()}};
};

TEST_CASE_METHOD(PublishedWhitelist, "an old signed list that is put in place while it is loaded is never used") {
  const bool is_layer = GENERATE(false, true);
  if (is_layer) std::filesystem::create_directory(source.path = folder.file("layers"));
  const std::string place = is_layer ? source.path + "/0001.bloom" : source.path;
  const std::string old = folder.file("old"), fresh = folder.file("fresh"), link = folder.file("link");
  make(old, {"joe@example.org"});
  make(fresh, {"ann@example.org", "bob@example.org"});
  std::filesystem::create_hard_link(fresh, place);
  publish(source.path, signing_key());
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      for (const std::string& from : {old, fresh}) {
        std::filesystem::create_hard_link(from, link);
        std::filesystem::rename(link, place);
      }
    }
  });
  std::size_t loads = 0, wrong = 0;
  for (int i = 0; i < 1500; ++i) {
    try {
      const std::vector<NamedFilter> filters = load();
      ++loads;
      if (entries_of(filters.front().filter->header()) != 2) ++wrong;
    } catch (const BloomgateError&) {  // NOLINT(bugprone-empty-catch): the old one was there
    }
  }
  stop = true;
  swapper.join();
  CHECK(loads > 0);
  CHECK(wrong == 0);
}

TEST_CASE_METHOD(PublishedWhitelist, "a filter is held against the manifest as it was opened") {
  make(source.path, {"joe@example.org"});
  const PublishedFile described = describe_published(source.path);
  const LoadedFilter loaded(source.path, false, FilterCheck::all, {}, source.trusted_keys, &described);
  make(folder.file("other"), {"ann@example.org"});
  std::filesystem::rename(folder.file("other"), source.path);
  CHECK_NOTHROW(loaded.require_published(described, source.trusted_keys));
  const PublishedFile other = describe_published(source.path);
  CHECK_THROWS_WITH(loaded.require_published(other, source.trusted_keys),
                    Contains("is not the file that the manifest names"));
  CHECK_THROWS_WITH(loaded.require_published(described, {other_signing_key().public_key()}),
                    Contains("no trusted key"));
  CHECK_THROWS_WITH(LoadedFilter(source.path, false, FilterCheck::header, {}, source.trusted_keys, &described),
                    Contains("bloomgate pull") && Contains("bloomgate sign --key"));
}

TEST_CASE_METHOD(PublishedWhitelist, "a filter under another name than the published one is to be renamed") {
  make(source.path, {"joe@example.org"});
  publish(source.path, signing_key());
  const std::string renamed = folder.file("v.bloom");
  std::filesystem::rename(source.path, renamed);
  std::filesystem::rename(source.path + ".manifest", renamed + ".manifest");
  source.path = renamed;
  CHECK_THAT(refusal(), Contains("names w.bloom, and the filter is called v.bloom") && Contains("its published name"));
}

TEST_CASE_METHOD(PublishedWhitelist, "the name of a published layer has at most 63 characters") {
  source.path = folder.file("layers");
  std::filesystem::create_directory(source.path);
  make(source.path + "/" + std::string(63, 'a') + ".bloom", {"joe@example.org"});
  publish(source.path, signing_key());
  CHECK(load().size() == 1);
  make(source.path + "/" + std::string(64, 'b') + ".bloom", {"joe@example.org"});
  CHECK_THROWS_WITH(publish(source.path, signing_key()), Contains("63"));
}

struct PublishedRevoked : PublishedWhitelist {
  PublishedRevoked() {
    source.path = folder.file("layers");
    std::filesystem::create_directory(source.path);
    make(source.path + "/0001.bloom", {"joe@example.org"});
  }

  void revoke(std::string_view text) const {
    write_file(source.path + "/revoked", text);
    publish(source.path, signing_key());
  }
  DaemonOptions options(const std::string& revoked) const {
    DaemonOptions all = {};
    all.whitelists = {source};
    all.revoked = revoked;
    return all;
  }
  const NamedExactList& list = kExactLists.front();
};

TEST_CASE_METHOD(PublishedRevoked, "a list has the entries of each text, and each text its own invalid lines") {
  revoke("eve@example.org\nann@example.org\nnothing\n");
  const std::string own = folder.file("own");
  write_file(own, "no entry\n@example.net\nEve@example.org\n");
  const auto read = read_configured_list(options(own), list, load());
  REQUIRE(read);
  CHECK(read->list->size() == 3);
  for (const char* const sender : {"<eve@example.org>", "<ann@example.org>", "<x@example.net>"}) {
    CHECK(read->list->find(canonicalize_path(sender)).is_listed());
  }
  REQUIRE(read->texts.size() == 2);
  CHECK(read->texts[0].path == own);
  CHECK(read->texts[0].entries == 2);
  CHECK(read->texts[0].bad_lines.at(0).number == 1);
  CHECK(read->texts[1].entries == 1);
  CHECK(read->texts[1].bad_line_count == 1);
  CHECK(read->texts[1].bad_lines.at(0).number == 3);
}

TEST_CASE_METHOD(PublishedRevoked, "an own list that only looks like the published one is read") {
  revoke("eve@example.org\n");
  const std::string own = folder.file("revoked");  // the same name, in another folder
  write_file(own, "ann@example.org\n");
  CHECK(read_configured_list(options(own), list, load())->list->size() == 2);
  CHECK(published_with(options(own), own) == nullptr);
  CHECK(read_configured_list(options(""), list, load())->list->size() == 1);
  CHECK(read_configured_list(options(source.path + "/../layers//revoked"), list, load())->texts.size() == 1);
}

TEST_CASE_METHOD(PublishedRevoked, "what is published as revoked and is no list makes the whitelist unusable") {
  revoke(std::string_view("eve@example.org\n\0\0\n", 19));
  CHECK_THAT(refusal(), Contains("revoked is damaged"));
}

TEST_CASE_METHOD(PublishedRevoked,
                 "without trusted keys a file called revoked beside the layers is no list of the daemon") {
  revoke("eve@example.org\n");
  source.trusted_keys.clear();
  CHECK(load().front().revoked == nullptr);
  CHECK(!read_configured_list(options(""), list, load()));
  CHECK(named_with(options(""), source.path + "/revoked") == nullptr);
}

}  // namespace
}  // namespace bloomgate::test
