#include "filter/inputs/confirmation.hpp"

#include <filesystem>
#include <string>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(WithPath, "a store confirms its addresses, and one that cannot answer is named with the reason") {
  build_filter(folder.file("filter"), {"joe@example.org"}, {.seed = 42, .store_path = path});
  const MappedFilter filter(folder.file("filter"));
  const Confirmation none("", filter);
  CHECK(none.store() == nullptr);
  CHECK(none.confirms("eve@example.org"));
  const Confirmation sound(path, filter);
  CHECK(sound.confirms("joe@example.org"));
  CHECK_FALSE(sound.confirms("eve@example.org"));
  const auto error = [&] { return error_of([&] { sound.confirms("joe@example.org"); }); };
  flip_byte(path, sound.store()->sections().front().offset);
  CHECK(error().code() == ErrorCode::bad_body_checksum);
  CHECK_THAT(error().what(), Catch::Contains(path + ": a page is damaged; 'bloomgate verify " + path + "' says where"));
  std::filesystem::resize_file(path, kHeaderBytes);
  CHECK(error().code() == ErrorCode::cannot_read);
  CHECK_THAT(error().what(), Catch::Contains(path + ": a page cannot be read; check the disk"));
}

}  // namespace
}  // namespace bloomgate::test
