#include "filter/share/learn_key.hpp"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <numeric>
#include <string>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;

std::array<std::uint8_t, LearnKey::kBytes> counted_bytes() {
  std::array<std::uint8_t, LearnKey::kBytes> bytes;
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TEST_CASE("the hash is SipHash-2-4, as its paper has it") {
  const LearnKey key(counted_bytes());
  std::string text(15, '\0');
  std::iota(text.begin(), text.end(), '\0');
  CHECK(key.hash_of_domain(text) == 0xa129ca6149be45e5);
  // Of `joe@example.org LF ann@ours.example`; of a NUL and the number in 8 bytes; of two NULs.
  CHECK(key.hash_of_pair("ann@ours.example", "joe@example.org") == 0xeb0b1b3b48994eba);
  CHECK(key.hash_of_person(1) == 0x754ab14b7e4d475f);
  CHECK(key.check() == 0x512233290cc28bde);
}

TEST_CASE("another pair, another order and another key have another hash") {
  const LearnKey key(counted_bytes());
  const std::uint64_t hash = key.hash_of_pair("ann@ours.example", "joe@example.org");
  CHECK(hash == LearnKey(counted_bytes()).hash_of_pair("ann@ours.example", "joe@example.org"));
  CHECK(hash != key.hash_of_pair("bob@ours.example", "joe@example.org"));
  CHECK(hash != key.hash_of_pair("joe@example.org", "ann@ours.example"));
  CHECK(hash != LearnKey::make().hash_of_pair("ann@ours.example", "joe@example.org"));
  CHECK(key.check() != LearnKey::make().check());
  CHECK(key.hash_of_person(1) != key.hash_of_person(2));
}

TEST_CASE("a key is read again from its file, which is for its owner alone") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("learn.key");
  const LearnKey key = LearnKey::make();
  key.write_to(path);
  CHECK(LearnKey::read_from(path).check() == key.check());
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(test::error_code_of([&] { key.write_to(path); }) == ErrorCode::cannot_write);
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  CHECK(LearnKey::read_from(path).check() == key.check());
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  const BloomgateError error = test::error_of([&] { LearnKey::read_from(path); });
  CHECK(error.code() == ErrorCode::not_permitted);
  CHECK_THAT(error.what(), Contains("chmod o= "));
}

TEST_CASE("a file that is not a key is refused, and the message shows nothing of it") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("learn.key");
  for (const std::string text :
       {"", "c2VjcmV0", "# only a comment\n", "lcO0Aw3qrToL4lsXl1dLug==\nlcO0Aw3qrToL4lsXl1dLug==\n"}) {
    std::ofstream(path) << text;
    const BloomgateError error = test::error_of([&] { LearnKey::read_from(path); });
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK_THAT(error.what(), Contains("--new-learn-key") && !Contains("c2Vj") && !Contains("lcO0"));
  }
}

}  // namespace
}  // namespace bloomgate
