#include "filter/system/file_paths.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("a path without a folder is in the working folder") {
  CHECK(folder_of("list.bloom") == ".");
  CHECK(folder_of("lists/list.bloom") == "lists");
  CHECK(folder_of("/list.bloom") == "/");
  CHECK(folder_of("../list.bloom") == "..");
}

TEST_CASE_METHOD(InFolder, "two paths are of one file if it is there and both lead to it") {
  write_file(folder.file("a"), "text");
  write_file(folder.file("b"), "text");
  std::filesystem::create_symlink("a", folder.file("link"));
  std::filesystem::create_hard_link(folder.file("a"), folder.file("other-name"));
  CHECK(is_same_file(folder.file("a"), folder.file("a")));
  CHECK(is_same_file(folder.file("a"), folder.file("link")));
  CHECK(is_same_file(folder.file("other-name"), folder.file("a")));
  CHECK_FALSE(is_same_file(folder.file("a"), folder.file("b")));
  CHECK_FALSE(is_same_file(folder.file("a"), folder.file("missing")));
  CHECK_FALSE(is_same_file(folder.file("missing"), folder.file("a")));
  CHECK_FALSE(is_same_file(folder.file("missing"), folder.file("missing")));
}

TEST_CASE_METHOD(InFolder,
                 "two paths are the same place if they lead to one file, or if they are equal and no file exists") {
  write_file(folder.file("a"), "text");
  std::filesystem::create_symlink("a", folder.file("link"));
  CHECK(are_same_place(folder.file("a"), folder.file("link")));
  CHECK(are_same_place(folder.file("missing"), folder.file("missing")));
  CHECK_FALSE(are_same_place(folder.file("missing"), folder.file("other")));
  CHECK_FALSE(are_same_place(folder.file("a"), folder.file("missing")));
}

}  // namespace
}  // namespace bloomgate::test
