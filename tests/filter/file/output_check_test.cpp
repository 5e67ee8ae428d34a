#include "filter/file/output_check.hpp"

#include <filesystem>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/largest_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// What is said where a file of that size cannot be written.
std::string refusal_of(const std::string& path, std::uint64_t bytes) {
  try {
    require_can_write(path, bytes);
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::cannot_write);
    return error.what();
  }
  return {};
}

TEST_CASE_METHOD(InFolder, "a folder lacks room for more bytes than are free, and for no fewer") {
  const std::uint64_t free = std::filesystem::space(folder.path()).available;
  CHECK_FALSE(surely_lacks_room(folder.path().string(), 0));
  CHECK_FALSE(surely_lacks_room(folder.path().string(), free / 2));  // others write at the same time
  CHECK(surely_lacks_room(folder.path().string(), free + (std::uint64_t{1} << 40)));
  CHECK_FALSE(surely_lacks_room(folder.file("missing"), std::uint64_t{1} << 62));  // nobody knows
}

TEST_CASE_METHOD(InFolder, "a trial finds out whether a file can be written, and leaves nothing behind") {
  CHECK(refusal_of(folder.file("filter"), 0).empty());
  CHECK(refusal_of(folder.file("filter"), 10'000).empty());
  CHECK_THAT(refusal_of(folder.file("missing/filter"), 10'000), Contains("its folder is not there"));
  CHECK_THAT(refusal_of(folder.file("missing/filter"), 0), Contains("its folder is not there"));
  CHECK_THAT(refusal_of(folder.file("filter"), std::uint64_t{1} << 62), Contains("will take 4398046511104 MiB,"));
  const std::string full = refusal_of(folder.file("filter"), (std::uint64_t{1} << 62) + 1);
  CHECK_THAT(full, StartsWith("the filter will take 4398046511105 MiB, and there is no room for it beside " +
                              folder.file("filter") + ": No space left on device, ") &&
                       Contains(" MiB are free; make room in " + folder.path().string() + ", "));
  {
    const LargestFile small(5000);
    CHECK(refusal_of(folder.file("filter"), 5000).empty());
    CHECK_THAT(refusal_of(folder.file("filter"), 5001), Contains("there is no room for it") && Contains("too large"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const BloomgateError error = error_of([&] { require_can_write(folder.path().string(), 0); });
  CHECK(error.code() == ErrorCode::not_a_regular_file);
  std::filesystem::create_symlink("link", folder.file("link"));  // to itself
  CHECK_THAT(refusal_of(folder.file("link"), 0), StartsWith("follow the link " + folder.file("link") + ": "));
}

}  // namespace
}  // namespace bloomgate::test
