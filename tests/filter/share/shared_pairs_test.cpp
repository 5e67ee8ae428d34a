#include "filter/share/shared_pairs.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;

SharedHeader header() {
  return {.source = 0x1122334455667789,
          .key_check = 0xfedcba9876543210,
          .last_change = 41,
          .last_forget = 3,
          .day = 20'780,
          .is_whole = true};
}

std::vector<SharedRecord> records() {
  return {{.kind = SharedKind::person, .hash = 7, .second = 3, .day = 20'779},
          {.kind = SharedKind::applied, .hash = 0x99, .second = 12, .day = 0},
          {.kind = SharedKind::gone, .hash = 0xffffffffffffffff, .second = 0, .day = 0},
          {.kind = SharedKind::pair, .hash = 0x0102030405060708, .second = 0, .day = 65'535},
          {.kind = SharedKind::domain, .hash = 0x1112131415161718, .second = 0, .day = 65'535}};
}

std::vector<SharedRecord> all_of(const SharedPairs& pairs) {
  std::vector<SharedRecord> all;
  for (std::size_t i = 0; i < pairs.size(); ++i) all.push_back(pairs[i]);
  return all;
}

BloomgateError refusal(const std::string& text) {
  return test::error_of([&] { SharedPairs(text, "file"); });
}

TEST_CASE("what is written is read") {
  const std::string text = shared_text(header(), records());
  CHECK(text.size() == kSharedHeaderBytes + 5 * kSharedRecordBytes);
  const SharedPairs read(text, "file");
  CHECK(read.header() == header());
  CHECK(all_of(read) == records());
  CHECK(SharedPairs(shared_text({}, {}), "file").size() == 0);
  constexpr std::int64_t kLast = std::int64_t{1} << 62;
  const std::vector<SharedRecord> last = {{.kind = SharedKind::person, .second = kLast},
                                          {.kind = SharedKind::applied, .second = kLast}};
  CHECK(all_of(SharedPairs(shared_text({.last_change = kLast, .last_forget = kLast}, last), "file")) == last);
  CHECK(refusal(shared_text({.last_change = kLast + 1}, {})).code() == ErrorCode::bad_input);
}

TEST_CASE("the golden file of learned pairs is written again byte for byte") {
  const std::string golden =
      test::read_file(std::filesystem::path(test::source_folder()) / "tests/golden/learned.pairs");
  const SharedPairs read(golden, "learned.pairs");
  CHECK(read.header() == header());
  CHECK(all_of(read) == records());
  CHECK(shared_text(header(), records()) == golden);
}

TEST_CASE("a file that is cut off, or has more, is refused with the place") {
  const std::string text = shared_text(header(), records());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const BloomgateError error = refusal(text.substr(0, size));
    CHECK(error.code() == (size < 8 ? ErrorCode::bad_magic : ErrorCode::bad_input));
    CHECK_THAT(error.what(), Contains("file "));
  }
  CHECK(refusal(text + '\0').code() == ErrorCode::bad_input);
  CHECK(refusal(text + std::string(kSharedRecordBytes, '\0')).code() == ErrorCode::bad_input);
}

TEST_CASE("each reserved byte is refused if it is not zero") {
  const std::string text = shared_text(header(), records());
  const auto with = [&](std::size_t at, char byte) {
    std::string changed = text;
    changed[at] = byte;
    return changed;
  };
  const auto in_record = [](std::size_t record, std::size_t at) {
    return kSharedHeaderBytes + record * kSharedRecordBytes + at;
  };
  CHECK(refusal(with(0, 'B')).code() == ErrorCode::bad_magic);
  CHECK(refusal(with(8, 2)).code() == ErrorCode::unsupported_version);
  for (const std::size_t at : {std::size_t{12}, std::size_t{13}, std::size_t{39}, std::size_t{47}, std::size_t{48}}) {
    INFO(at);
    CHECK(refusal(with(at, static_cast<char>(0x82))).code() == ErrorCode::bad_input);
  }
  // The kind, and what its records do not have.
  CHECK(refusal(with(in_record(3, 18), 0)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(3, 18), 6)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(3, 8), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(4, 8), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(3, 19), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(3, 20), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(2, 8), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(2, 16), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(1, 16), 1)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(1, 15), static_cast<char>(0x80))).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(0, 15), 0x40)).code() == ErrorCode::bad_input);
  CHECK(refusal(with(in_record(0, 8), 0)).code() == ErrorCode::bad_input);
  CHECK_THAT(refusal(with(in_record(3, 20), 1)).what(), Contains("at byte 128"));
}

TEST_CASE("files are named by their numbers, in the order of which names are sorted") {
  CHECK(shared_file_name(17) == "0000000000000017.pairs");
  CHECK(number_of_shared_file("0000000000000017.pairs") == 17);
  CHECK(number_of_shared_file(shared_file_name(9'999'999'999'999'999)) == 9'999'999'999'999'999);
  for (const char* const name : {"", "17.pairs", "000000000000001x.pairs", "-000000000000001.pairs",
                                 "0000000000000000.pairs", "0000000000000017.bloom", "00000000000000170.pairs"}) {
    CHECK(number_of_shared_file(name) == 0);
  }
}

}  // namespace
}  // namespace bloomgate
