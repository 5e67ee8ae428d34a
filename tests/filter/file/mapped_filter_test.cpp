#include "filter/file/mapped_filter.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/system/bus_fault.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/locked_memory.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// 3.5 MiB of body: four chunks, the last one short.
struct FourChunks : WithPath {
  FourChunks() {
    install_bus_fault_handler();
    build_filter(path, {"joe@example.org"}, {.expected_entries = 3'670'016, .seed = 1});
  }
};

TEST_CASE_METHOD(WithPath, "a mapped filter finds its entries") {
  const FilterHeader written = build_filter(path, numbered_addresses(0, 10'000));
  const MappedFilter filter(path);
  CHECK(filter.header().shape == written.shape);
  CHECK(filter.header().addresses == 10'000);
  for (const std::string& address : numbered_addresses(0, 10'000)) {
    if (filter.view().find(canonicalize_path(address)).match != Match::address) FAIL(address);
  }
  CHECK_FALSE(filter.damaged());
}

TEST_CASE_METHOD(FourChunks, "verifying reads every byte of the body once, with any number of threads") {
  const MappedFilter filter(path);
  const auto threads = GENERATE(0U, 1U, 2U, 8U);
  std::uint64_t last = 0;
  int calls = 0;
  filter.verify_body(threads, [&](std::uint64_t done) {
    CHECK(done > last);
    last = done;
    ++calls;
  });
  CHECK(last == filter.body_bytes());
  CHECK(calls == 4);
}

TEST_CASE_METHOD(FourChunks,
                 "verifying in the background gives the same result with threads that run when a processor is idle") {
  const MappedFilter filter(path);
  const auto threads = GENERATE(0U, 1U, 8U);
  int calls = 0;
  int others = 0;
  const auto count = [&](std::uint64_t) {
    ++calls;
    if (sched_getscheduler(0) != SCHED_IDLE) ++others;
  };
  filter.verify_body(threads, count, {}, std::chrono::minutes(10));
  CHECK(calls == 4);
  CHECK(others == 0);
  filter.verify_body(threads, count);
  CHECK(others == 4);
  flip_byte(path, kHeaderBytes + (std::uint64_t{2} << 20));
  const MappedFilter damaged(path);
  CHECK(error_code_of([&] { damaged.verify_body(threads, {}, {}, std::chrono::minutes(10)); }) ==
        ErrorCode::bad_body_checksum);
}

TEST_CASE_METHOD(FourChunks, "only verify finds a damaged body, and names the place") {
  const std::uint64_t body_bytes = MappedFilter(path).view().body().size();
  const auto place = GENERATE_COPY(std::uint64_t{0}, (std::uint64_t{1} << 20) + 17, body_bytes - 1);
  flip_byte(path, kHeaderBytes + place);
  const MappedFilter filter(path);
  const BloomgateError error = error_of([&] { filter.verify_body(); });
  CHECK(error.code() == ErrorCode::bad_body_checksum);
  CHECK(error.details().offset == kHeaderBytes + (place & ~(kChecksumChunkBytes - 1)));
  CHECK(error.details().path == path);
  CHECK_THAT(error.what(), Contains("the bit array is damaged"));
}

TEST_CASE_METHOD(WithPath, "a damaged list of domain entries is found by verify, and its place is named") {
  std::vector<std::string> lines;
  for (int i = 0; i < 140'000; ++i) lines.push_back("@" + std::to_string(i) + ".example");
  build_filter(path, lines);
  Section domains;
  {
    const MappedFilter filter(path);
    CHECK_NOTHROW(filter.verify_body());
    CHECK(filter.chunk_count() == 3);
    domains = filter.sections().back();
    CHECK(filter.body_bytes() == filter.view().body().size() + 8 * 140'000);
  }
  const auto place = GENERATE_COPY(std::uint64_t{0}, (std::uint64_t{1} << 20) + 17, domains.bytes - 1);
  flip_byte(path, domains.offset + place);
  const MappedFilter filter(path);
  CHECK(filter.chunk_is_sound(0));
  CHECK(filter.chunk_is_sound(1) == (place >= kChecksumChunkBytes));
  CHECK(filter.chunk_is_sound(2) == (place < kChecksumChunkBytes));
  const BloomgateError error = error_of([&] { filter.verify_body(); });
  CHECK(error.code() == ErrorCode::bad_body_checksum);
  CHECK(error.details().offset == domains.offset + (place & ~(kChecksumChunkBytes - 1)));
  CHECK_THAT(error.what(), Contains("the list of domain entries is damaged"));
}

// A file of 140,000 domain entries, in two pieces, of which some have changed places, with checksums that are right.
Section write_unsorted(const std::string& path, const std::vector<std::pair<std::size_t, std::size_t>>& exchanged) {
  std::vector<std::string> lines;
  for (int i = 0; i < 140'000; ++i) lines.push_back("@" + std::to_string(i) + ".example");
  build_filter(path, lines);
  FilterHeader header;
  Sections sections;
  {
    const MappedFilter filter(path);
    header = filter.header();
    sections = filter.sections();
  }
  std::string text = read_file(path);
  const std::span<std::byte> file = std::as_writable_bytes(std::span(text));
  Section& domains = sections.back();
  const std::span<std::byte> hashes = file.subspan(domains.offset, domains.bytes);
  for (const auto& [a, b] : exchanged) std::ranges::swap_ranges(hashes.subspan(8 * a, 8), hashes.subspan(8 * b, 8));
  const std::span<std::byte> table = file.subspan(domains.table_offset(), domains.table_bytes());
  for (std::uint64_t chunk = 0; chunk < domains.chunk_count(); ++chunk) {
    const std::uint64_t begin = chunk * kChecksumChunkBytes;
    const auto bytes = hashes.subspan(begin, std::min(kChecksumChunkBytes, domains.bytes - begin));
    store_little_endian(table.data() + chunk * 8, checksum(bytes));
  }
  domains.table_checksum = checksum(table);
  encode_header(header, sections, file.first<kHeaderBytes>());
  write_file(path, text);
  return domains;
}

TEST_CASE_METHOD(WithPath,
                 "if domain entries are not sorted, also from one piece to the next, the first place is named") {
  constexpr std::size_t kOfPiece = kChecksumChunkBytes / 8;
  const auto refused_at = [&] {
    try {
      MappedFilter(path).verify_body(1);
    } catch (const BloomgateError& error) {
      CHECK(error.code() == ErrorCode::bad_section);
      return error.details().offset.value();
    }
    FAIL("accepted");
    return std::uint64_t{0};
  };
  CHECK_NOTHROW((write_unsorted(path, {}), MappedFilter(path).verify_body(1)));
  const Section domains = write_unsorted(path, {{kOfPiece - 1, kOfPiece}});
  CHECK(refused_at() == domains.offset + kChecksumChunkBytes);
  write_unsorted(path, {{0, 1}, {kOfPiece + 7, kOfPiece + 8}});
  CHECK(refused_at() == domains.offset);
}

TEST_CASE_METHOD(FourChunks, "if several places are damaged, the first is named") {
  for (const std::uint64_t chunk : {3U, 1U, 2U}) flip_byte(path, kHeaderBytes + chunk * kChecksumChunkBytes);
  const BloomgateError error = error_of([&] { MappedFilter(path).verify_body(); });
  CHECK(error.details().offset == kHeaderBytes + kChecksumChunkBytes);
}

TEST_CASE_METHOD(WithPath, "an open filter keeps its file when another is renamed over it") {
  build_filter(path, {"joe@example.org"});
  const MappedFilter old(path);
  build_filter(path, {"ann@example.org"});
  CHECK(old.view().may_contain("joe@example.org"));
  CHECK(MappedFilter(path).view().may_contain("ann@example.org"));
  CHECK_NOTHROW(old.verify_body());
}

// What is done to a file of 3.5 MiB of body, in place.
struct InPlace {
  std::string_view name;
  std::function<void(const std::string&)> write;
};

void overwrite(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.flush());
}

TEST_CASE_METHOD(FourChunks, "a filter that is written to in place is reported so, and is not verified",
                 "[bus fault]") {
  make_old(path);
  const MappedFilter filter(path);
  filter.verify_body();
  CHECK(filter.state() == MappedFilter::State::whole);
  const InPlace c = GENERATE(
      InPlace{"one bit", [](const std::string& p) { flip_byte(p, kHeaderBytes + 17); }},
      InPlace{"the same byte", [](const std::string& p) { overwrite(p, 0, "B"); }},
      InPlace{"0xFF", [](const std::string& p) { overwrite(p, kHeaderBytes, std::string(3'000'000, '\xff')); }},
      InPlace{"truncation", [](const std::string& p) { std::filesystem::resize_file(p, kHeaderBytes); }},
      InPlace{"growth", [](const std::string& p) { std::ofstream(p, std::ios::app) << "x"; }});
  INFO(c.name);
  c.write(path);
  CHECK(filter.state() == MappedFilter::State::written_to);
  CHECK(error_code_of([&] { filter.verify_body(); }) == ErrorCode::changed_while_open);
  CHECK(error_code_of([&] { filter.require_whole(); }) == ErrorCode::changed_while_open);
}

TEST_CASE_METHOD(WithPath, "changes that leave a filter's bytes alone do not damage it") {
  build_filter(path, {"joe@example.org"});
  const MappedFilter filter(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  std::filesystem::create_hard_link(path, folder.file("link"));
  std::filesystem::rename(path, folder.file("old"));
  std::filesystem::remove(folder.file("link"));
  std::filesystem::remove(folder.file("old"));
  CHECK(filter.state() == MappedFilter::State::whole);
}

TEST_CASE_METHOD(FourChunks, "each piece of a body is checked by itself, and the damaged one is found", "[bus fault]") {
  const MappedFilter filter(path);
  const auto sound = [&] {
    std::string each;
    for (std::uint64_t chunk = 0; chunk < filter.chunk_count(); ++chunk)
      each += filter.chunk_is_sound(chunk) ? '+' : '-';
    return each;
  };
  CHECK(sound() == "++++");
  flip_byte(path, kHeaderBytes + kChecksumChunkBytes);
  CHECK(sound() == "+-++");
  flip_byte(path, kHeaderBytes + kChecksumChunkBytes);
  flip_byte(path, kHeaderBytes + filter.view().body().size() - 1);
  CHECK(sound() == "+++-");
  // The last chunk is gone with its page, and the table behind it.
  std::filesystem::resize_file(path, kHeaderBytes + 3 * kChecksumChunkBytes);
  CHECK_FALSE(filter.chunk_is_sound(3));
  CHECK(filter.state() == MappedFilter::State::unreadable);
  // From then on nothing of the file counts as sound, whatever its bytes are.
  CHECK_FALSE(filter.chunk_is_sound(0));
}

TEST_CASE_METHOD(WithPath, "after a piece is found to be gone, an unchanged piece counts as damaged, too",
                 "[bus fault]") {
  install_bus_fault_handler();
  build_filter(path, {"joe@example.org", "@example.net"});
  const MappedFilter filter(path);
  REQUIRE(filter.chunk_count() == 2);
  std::filesystem::resize_file(path, filter.sections().back().offset);  // the bits and their table stay
  CHECK(filter.chunk_is_sound(0));
  CHECK_FALSE(filter.chunk_is_sound(1));
  CHECK_FALSE(filter.chunk_is_sound(0));
}

TEST_CASE_METHOD(WithPath, "a locked filter stays in memory") {
  build_filter(path, {"joe@example.org"});
  const MappedFilter filter(path);
  if (lock_is_refused()) return;
  const std::string before = locked_memory();
  filter.lock_in_memory();
  CHECK((locked_memory() != before) == kCanLockMemory);
}

// Takes CAP_IPC_LOCK away from this thread, and gives it back.
class WithoutLockCapability {
 public:
  WithoutLockCapability() {
    header_.version = _LINUX_CAPABILITY_VERSION_3;
    if (syscall(SYS_capget, &header_, before_) != 0) throw std::runtime_error("capget");
    __user_cap_data_struct without[] = {before_[0], before_[1]};
    without[0].effective &= ~(std::uint32_t{1} << CAP_IPC_LOCK);
    if (syscall(SYS_capset, &header_, without) != 0) throw std::runtime_error("capset");
  }
  ~WithoutLockCapability() { syscall(SYS_capset, &header_, before_); }
  WithoutLockCapability(const WithoutLockCapability&) = delete;
  WithoutLockCapability& operator=(const WithoutLockCapability&) = delete;

 private:
  __user_cap_header_struct header_ = {};
  __user_cap_data_struct before_[2] = {};
};

TEST_CASE_METHOD(FourChunks, "locking in memory says what to do if the limit is too low") {
  const MappedFilter filter(path);
  rlimit old_limit = {};
  REQUIRE(getrlimit(RLIMIT_MEMLOCK, &old_limit) == 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
  std::optional<BloomgateError> error;
  try {
    const WithoutLockCapability limited;  // who has it has no limit
    filter.lock_in_memory();
  } catch (const BloomgateError& thrown) {
    error = thrown;
  }
  REQUIRE(setrlimit(RLIMIT_MEMLOCK, &old_limit) == 0);
  REQUIRE(error.has_value() == kCanLockMemory);
  if (!error) return;
  CHECK(error->code() == ErrorCode::out_of_memory);
  CHECK(std::string(error->what()).find("LimitMEMLOCK") != std::string::npos);
}

// The body is a hole: no disk is used, and the last offsets are past 2^32.
TEST_CASE_METHOD(WithPath, "a filter of more than 4 GiB is mapped and looked up to its last block", "[no threads]") {
  constexpr std::uint64_t kBytes = (std::uint64_t{4} << 30) + (std::uint64_t{64} << 20);
  FilterHeader header;
  header.shape = {.block_count = kBytes / 4096, .seed = 42};
  header.expected_entries = kBytes;
  Sections sections = sections_of(header);
  Section& bits = sections.front();
  std::vector<std::byte> table(bits.table_bytes());
  const auto checksum_of_empty = checksum(std::vector<std::byte>(kChecksumChunkBytes));
  for (std::uint64_t chunk = 0; chunk < bits.chunk_count(); ++chunk) {
    store_little_endian(table.data() + chunk * 8, checksum_of_empty);
  }
  bits.table_checksum = checksum(table);
  std::array<std::byte, kHeaderBytes> header_bytes;
  encode_header(header, sections, header_bytes);
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(header_bytes.data()), kHeaderBytes);
    file.seekp(static_cast<std::streamoff>(bits.table_offset() - 1));
    file.put('\xff');  // the last eight bits of the last block
    file.write(reinterpret_cast<const char*>(table.data()), static_cast<std::streamsize>(table.size()));
    REQUIRE(file.flush());
  }
  const MappedFilter filter(path);
  CHECK(filter.view().body().size() == kBytes);
  CHECK(filter.view().body().back() == std::byte{0xff});
  for (const std::string& address : numbered_addresses(0, 1000)) {
    if (filter.view().may_contain(address)) FAIL(address);
  }
}

}  // namespace
}  // namespace bloomgate::test
