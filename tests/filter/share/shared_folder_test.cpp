#include "filter/share/shared_folder.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/signature.hpp"
#include "filter/share/shared_pairs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;

void require(std::vector<PublishedFile> files) {
  require_shared({.list = "submit1", .files = std::move(files)}, "manifest");
}

TEST_CASE("a manifest names files of learned pairs alone, and no more of them than one host can have learned") {
  const std::string first = shared_file_name(1);
  const std::string second = shared_file_name(2);
  CHECK_NOTHROW(require({{first, kMostSharedFileBytes}, {second, kMostSharedFileBytes}}));
  CHECK_THROWS_WITH(require({{first, kMostSharedFileBytes}, {second, kMostSharedFileBytes + 1}}),
                    Contains("manifest names more than 536870912 bytes"));
  CHECK_THROWS_WITH(require({{first, 1}, {"0001.bloom", 1}}), Contains("manifest names 0001.bloom, which is no file"));
}

TEST_CASE("the number of a host, and that of the forgets of its database, are the starts of digests") {
  const PublicKey key = {.bytes = {1, 2, 3}};
  CHECK(host_id(key) == 0x4166f014663287d4);
  CHECK(forgets_id(1, 2) == 0xee6caf30869746ad);
}

TEST_CASE_METHOD(test::InFolder,
                 "a shared file is read if it is the one that was published, and none that is too large") {
  const std::string text = "some bytes";
  test::write_file(folder.file("file"), text);
  const PublishedFile published = {"file", text.size(), digest_of(std::as_bytes(std::span(text)))};
  const auto error_for = [&](const PublishedFile& file) {
    return test::error_of([&] { read_shared_file(folder.path(), file); });
  };
  CHECK(read_shared_file(folder.path(), published) == text);
  CHECK_THAT(error_for({"file", text.size(), {}}).what(), Contains("/file is not the file that the manifest names"));
  CHECK_THAT(error_for({"file", text.size() - 1, published.digest}).what(), Contains("bloomgate pull"));
  CHECK(error_for({"none", text.size(), published.digest}).code() == ErrorCode::cannot_open);
  std::filesystem::resize_file(folder.file("file"), kMostSharedFileBytes + 1);  // takes no room on the disk
  CHECK_THAT(error_for({"file", kMostSharedFileBytes, {}}).what(), Contains("is not the file"));
  const BloomgateError error = error_for({"file", kMostSharedFileBytes + 1, {}});
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK_THAT(error.what(), Contains("/file is published with 268435457 bytes, and may have 268435456 at most"));
}

}  // namespace
}  // namespace bloomgate
