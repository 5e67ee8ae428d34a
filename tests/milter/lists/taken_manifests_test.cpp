// What stands between publisher and daemon gains nothing: it turns back, mixes, exchanges, holds back and forges.
#include "milter/lists/taken_manifests.hpp"

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

using namespace std::chrono_literals;

const SecretKey& our_key() {
  static const SecretKey kKey = signing_key();
  return kKey;
}
const SecretKey& next_key() {
  static const SecretKey kKey = other_signing_key();
  return kKey;
}

// A folder of layers that is published, and a daemon's view of it.
struct Front {
  Front() {
    std::filesystem::create_directory(source.path);
    put("0001", {"joe@example.org"});
    publish_as({.number = 7});
  }

  std::string layer(const std::string& name) const { return source.path + "/" + name + ".bloom"; }
  void put(const std::string& name, const std::vector<std::string>& lines, const SecretKey& key = our_key()) const {
    const std::string made = folder.file("made");
    build_filter(made, lines, {.seed = 3});
    sign_filter(made, made, key, 1);
    std::filesystem::rename(made, layer(name));
  }
  void publish_as(const PublishAs& as, const SecretKey& key = our_key()) const { publish(source.path, key, as); }

  // As the daemon does, which then has it in use.
  std::size_t take() const {
    const std::vector<NamedFilter> filters = load_whitelist_files(source, false, FilterCheck::all);
    REQUIRE(filters.front().manifest);
    remember_taken(source, *filters.front().manifest);
    return filters.size();
  }
  std::string refusal() const {
    try {
      take();
    } catch (const BloomgateError& error) {
      return error.what();
    }
    return "none";
  }

  const TemporaryFolder folder;
  WhitelistSource source = {.name = "w",
                            .path = folder.file("layers"),
                            .trusted_keys = {our_key().public_key()},
                            .taken_manifests = folder.file("taken")};
};

TEST_CASE_METHOD(Front, "a whitelist of a trusted key without a manifest is refused, with the command that makes one") {
  std::filesystem::remove(manifest_path(source.path));
  CHECK_THAT(refusal(), Contains("is not there") && Contains("bloomgate sign --key"));
}

TEST_CASE_METHOD(Front, "an older state is refused, and so is another one of the same number") {
  CHECK(take() == 1);
  CHECK(take() == 1);  // the same once more
  publish_as({.number = 6});
  CHECK_THAT(refusal(), Contains("has the number 6") && Contains("7 was taken before"));
  publish_as({.number = 7, .holds = 99 * 24h});
  CHECK_THAT(refusal(), Contains("says something else"));
  publish_as({.number = 8});
  CHECK(take() == 1);
  publish_as({.number = 7});
  CHECK_THAT(refusal(), Contains("8 was taken before"));
}

TEST_CASE_METHOD(Front, "another list under the same key is another list") {
  take();
  publish_as({.number = 8, .list = "other"});
  CHECK_THAT(refusal(), Contains("'other'") && Contains("'whitelist' was taken before"));
}

TEST_CASE_METHOD(Front, "a manifest of another key is refused, whatever its number") {
  take();
  publish_as({.number = 8}, next_key());
  CHECK_THAT(refusal(), Contains("no trusted key"));
}

TEST_CASE_METHOD(Front, "layers of two days do not mix, and a missing one is missed") {
  put("0002", {"ann@example.org"});
  publish_as({.number = 8});
  CHECK(take() == 2);
  SECTION("one of another day, with a good signature") {
    put("0002", {"eve@example.org"});
    CHECK_THAT(refusal(), Contains("0002.bloom is not the file that the manifest names"));
  }
  SECTION("one exchanged for the other") {
    std::filesystem::copy_file(layer("0001"), layer("0002"), std::filesystem::copy_options::overwrite_existing);
    CHECK_THAT(refusal(), Contains("0002.bloom is not the file that the manifest names"));
  }
  SECTION("the newest one held back") {
    std::filesystem::remove(layer("0002"));
    CHECK_THAT(refusal(), Contains("0002.bloom"));
  }
  SECTION("one more, which no manifest names, is none") {
    put("0003", {"eve@example.org"});
    CHECK(take() == 2);
  }
}

TEST_CASE_METHOD(Front, "what is held back is used until its date and some days more, and then no longer") {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  source.overdue_for = std::chrono::days(60);
  publish_as({.number = 8, .made = now - 80 * 24h, .holds = 24h * 21});
  CHECK(take() == 1);
  CHECK(used_until(read_manifest(source.path)->manifest, source) == now + 24h);
  CHECK_NOTHROW(usable_manifest(source, now + 24h));
  CHECK_THROWS_WITH(usable_manifest(source, now + 24h + 1s), Contains("too old to be used"));
}

TEST_CASE_METHOD(Front, "a key that a manifest names is trusted as long as the key that has named it is") {
  publish_as({.number = 8, .next_key = next_key().public_key()});
  take();
  CHECK(keys_of(source) == TrustedKeys{our_key().public_key(), next_key().public_key()});
  put("0001", {"ann@example.org"}, next_key());
  publish_as({.number = 9}, next_key());
  CHECK(take() == 1);
  publish_as({.number = 10}, next_key());
  SECTION("and signs on") {
    CHECK(take() == 1);
  }
  SECTION("not if the configuration has another key") {
    source.trusted_keys = {SecretKey::make().public_key()};
    CHECK_THAT(refusal(), Contains("no trusted key"));
  }
  SECTION("not if its namer names none any longer") {
    put("0001", {"bob@example.org"});
    publish_as({.number = 11});
    take();
    publish_as({.number = 12}, next_key());
    CHECK_THAT(refusal(), Contains("no trusted key"));
  }
}

TEST_CASE_METHOD(Front, "a damaged memory of what was taken lets nothing in, and says what to do") {
  take();
  const std::string text = read_file(source.taken_manifests);
  const std::size_t length = GENERATE(0U, 1U, 40U, 200U);
  write_file(source.taken_manifests, text.substr(0, length));
  CHECK_THAT(refusal(), Contains("remove the file if whatever is published now may be taken"));
  std::string changed = text;
  changed.replace(changed.find("number 7"), 8, "number 1");
  write_file(source.taken_manifests, changed);
  CHECK_THAT(refusal(), Contains("is damaged") && Contains("remove the file"));
  std::filesystem::remove(source.taken_manifests);
  CHECK(take() == 1);
}

TEST_CASE_METHOD(Front, "each whitelist has its own number, and all are remembered in one file") {
  take();
  WhitelistSource file = source;
  file.path = folder.file("single.bloom");
  std::filesystem::copy_file(layer("0001"), file.path);
  publish(file.path, our_key(), {.number = 3, .list = "single"});
  remember_taken(file, usable_manifest(file, std::chrono::system_clock::now()).signed_by_trusted);
  publish(file.path, our_key(), {.number = 2, .list = "single"});
  CHECK_THROWS_WITH(usable_manifest(file, std::chrono::system_clock::now()), Contains("3 was taken before"));
  publish_as({.number = 6});
  CHECK_THAT(refusal(), Contains("7 was taken before"));
}

TEST_CASE_METHOD(Front, "another way to write the path, or a link, is the same whitelist") {
  take();
  publish_as({.number = 6});
  std::filesystem::create_directory_symlink(source.path, folder.file("link"));
  for (const std::string& path : {source.path + "/", folder.file("link"), folder.file("./layers/.")}) {
    source.path = path;
    CHECK_THAT(refusal(), Contains("7 was taken before"));
  }
}

TEST_CASE_METHOD(Front, "a link that leads to another folder is the same whitelist") {
  const std::string first = source.path;
  const std::string link = source.path = folder.file("link");
  std::filesystem::create_directory_symlink(first, link);
  take();
  source.path = folder.file("second");
  std::filesystem::create_directory(source.path);
  put("0001", {"joe@example.org"});
  publish_as({.number = 6});
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(source.path, link);
  source.path = link;
  CHECK_THAT(refusal(), Contains("7 was taken before"));
  publish_as({.number = 8});
  CHECK(take() == 1);
}

TEST_CASE_METHOD(Front, "threads that remember other whitelists at once forget none") {
  const SignedManifest manifest = *read_manifest(source.path);
  constexpr int kThreads = 8;
  constexpr int kEach = 5;
  const auto place = [this](int thread, int each) {
    WhitelistSource other = source;
    other.path = folder.file(std::to_string(thread) + "-" + std::to_string(each));
    return other;
  };
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int each = 0; each < kEach; ++each) remember_taken(place(thread, each), manifest);
      });
    }
  }
  const std::string text = read_file(source.taken_manifests);
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int each = 0; each < kEach; ++each) CHECK_THAT(text, Contains("\"" + place(thread, each).path + "\""));
  }
}

TEST_CASE_METHOD(Front, "a date past the end of the system's clock is a date") {
  publish_as({.number = 8, .holds = std::chrono::days(365 * 1000)});
  CHECK(take() == 1);
  const Manifest manifest = read_manifest(source.path)->manifest;
  CHECK(!is_overdue(manifest, source, std::chrono::system_clock::now()));
  CHECK(!is_overdue(manifest, source, std::chrono::system_clock::time_point::max()));
}

TEST_CASE_METHOD(Front, "whether a manifest can be remembered is found out without a trace") {
  CHECK(fault_of_memory(source).empty());
  CHECK(!std::filesystem::exists(source.taken_manifests));
  take();
  const std::string text = read_file(source.taken_manifests);
  CHECK(fault_of_memory(source).empty());
  CHECK(read_file(source.taken_manifests) == text);
  source.taken_manifests = folder.file("no/such/folder/taken");
  CHECK_THAT(fault_of_memory(source), Contains(source.taken_manifests));
  source.trusted_keys.clear();
  CHECK(fault_of_memory(source).empty());
}

}  // namespace
}  // namespace bloomgate::test
