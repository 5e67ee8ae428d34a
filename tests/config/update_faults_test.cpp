#include "config/update_faults.hpp"

#include <sys/stat.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Sentences = std::vector<std::string>;

TEST_CASE_METHOD(test::InFolder, "each step of bloomgate-update that has failed is a sentence") {
  const std::string whitelist = folder.file("w.bloom");
  CHECK(update_faults(whitelist).empty());
  test::write_file(whitelist + ".update",
                   "2026-11-20T03:00:00Z\t2026-11-26T03:00:00Z\tharvest\t66\tcannot open /none\tx\n"
                   "2026-11-26T03:00:00Z\t2026-11-26T03:00:00Z\tbuild\t65\t\n");
  const Sentences want = {
      "bloomgate-update: harvest has failed since 2026-11-20T03:00:00Z, last at 2026-11-26T03:00:00Z: cannot open "
      "/none\tx",
      "bloomgate-update: build has failed since 2026-11-26T03:00:00Z"};
  CHECK(update_faults(whitelist) == want);
  CHECK(update_faults(whitelist + "/") == want);  // a folder of layers
}

TEST_CASE_METHOD(test::InFolder, "whatever is in the place of that file is bounded, and is no success") {
  const std::string whitelist = folder.file("w.bloom");
  const std::string file = update_faults_file(whitelist);
  test::write_file(file, std::string(1 << 20, '\n'));
  CHECK(update_faults(whitelist) == Sentences(20, "bloomgate-update has failed, and " + file + " does not say how"));
  test::write_file(file, "2026\t2026\tbuild\t1\t" + std::string(1 << 20, 'x'));
  CHECK(update_faults(whitelist).front().size() == 1000);
  std::remove(file.c_str());
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);  // nobody waits for a writer
  CHECK(update_faults(whitelist).size() == 1);
}

}  // namespace
}  // namespace bloomgate
