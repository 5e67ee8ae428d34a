#include "filter/store/store_file.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/keep/kept_pairs.hpp"
#include "filter/store/store_format.hpp"
#include "filter/store/store_page.hpp"
#include "filter/store/store_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

std::set<KeyHash> addresses_of(const StoreFile& store) {
  std::set<KeyHash> all;
  store.for_each_address([&](std::span<const KeyHash> hashes) { all.insert(hashes.begin(), hashes.end()); });
  return all;
}

TEST_CASE_METHOD(InFolder, "the store of a build has every address and no others") {
  std::vector<std::string> lines = numbered_addresses(0, 20'000);
  lines.insert(lines.end(), {"user7@example.org", "@example.net", "@.example.com", "@example.net"});
  build_filter(folder.file("filter"), lines, {.seed = 42, .store_path = folder.file("store")});
  const StoreFile store(folder.file("store"));
  CHECK(store.header().addresses == 20'000);
  CHECK(store.header().domains == 2);
  CHECK(store.identity() == MappedFilter(folder.file("filter")).header().store_identity);
  store.verify(2);
  std::size_t wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    wrong += store.find(store.hash_of("user" + std::to_string(i) + "@example.org")) == StoreAnswer::present ? 0U : 1U;
    wrong +=
        store.find(store.hash_of("stranger" + std::to_string(i) + "@example.org")) == StoreAnswer::absent ? 0U : 1U;
  }
  CHECK(wrong == 0);
  CHECK(addresses_of(store).size() == 20'000);
  std::vector<KeyHash> domains;
  store.for_each_domain([&](std::span<const KeyHash> hashes) { domains.assign(hashes.begin(), hashes.end()); });
  CHECK(std::set<KeyHash>(domains.begin(), domains.end()) ==
        std::set<KeyHash>{store.hash_of("@example.net"), store.hash_of("@.example.com")});
}

TEST_CASE_METHOD(InFolder,
                 "the same entries and seed give the same store in any order, with any threads and any memory") {
  std::vector<std::string> lines = numbered_addresses(0, 300'000);
  build_filter(folder.file("a"), lines, {.seed = 1, .store_path = folder.file("a.store")});
  std::ranges::reverse(lines);
  build_filter(folder.file("b"), lines,
               {.expected_entries = 300'000,
                .seed = 1,
                .threads = 3,
                .memory_bytes = 1 << 20,
                .body_memory_bytes = 1 << 20,
                .scratch_folder = folder.path().string(),
                .store_path = folder.file("b.store")});
  CHECK(read_file(folder.file("a")) == read_file(folder.file("b")));
  CHECK(read_file(folder.file("a.store")) == read_file(folder.file("b.store")));
  StoreFile(folder.file("a.store")).verify(3);
}

TEST_CASE_METHOD(InFolder,
                 "a filter has the same bits whether its store is written or not, in each layout that has one") {
  const auto layout = GENERATE(Layout::page, Layout::line, Layout::ribbon);
  const std::uint32_t hashes = layout == Layout::ribbon ? 1 : 6;
  const auto lines = numbered_addresses(0, 50'000);
  build_filter(folder.file("a"), lines, {.layout = layout, .hashes = hashes, .seed = 1, .store_seed = 1});
  build_filter(folder.file("b"), lines,
               {.layout = layout, .hashes = hashes, .seed = 1, .store_path = folder.file("store")});
  const MappedFilter with(folder.file("b"));
  CHECK(std::ranges::equal(MappedFilter(folder.file("a")).view().body(), with.view().body()));
  CHECK(open_store(folder.file("store"), with.header().store_identity, "b")->header().addresses == 50'000);
}

TEST_CASE("a layout without a hash of 64 bits has no store") {
  const auto layout = GENERATE(Layout::classic, Layout::partitioned);
  CHECK(error_code_of([&] { FilterBuilder({.layout = layout, .store_path = "store"}); }) == ErrorCode::bad_argument);
}

TEST_CASE_METHOD(InFolder, "a store without addresses, and one without any entry, are stores") {
  const auto count = GENERATE(0U, 1U);
  std::vector<std::string> lines;
  if (count == 1) lines.emplace_back("@example.net");
  build_filter(folder.file("filter"), lines, {.seed = 42, .store_path = folder.file("store")});
  const StoreFile store(folder.file("store"));
  store.verify(1);
  CHECK(store.header().addresses == 0);
  CHECK(store.header().domains == count);
  CHECK(store.find(0) == StoreAnswer::absent);
  CHECK(store.find(~KeyHash{0}) == StoreAnswer::absent);
  CHECK(store.identity() == MappedFilter(folder.file("filter")).header().store_identity);
}

TEST_CASE_METHOD(InFolder, "a page is found in the page cache, and the answer is the same") {
  build_filter(folder.file("filter"), numbered_addresses(0, 5000), {.seed = 1, .store_path = folder.file("store")});
  const StoreFile store(folder.file("store"));
  const KeyHash member = store.hash_of("user5@example.org");
  CHECK(store.find(member) == StoreAnswer::present);
  const auto page = std::ranges::upper_bound(store.first_hashes(), member) - store.first_hashes().begin() - 1;
  std::array<std::byte, kStorePageBytes> bytes;
  const iovec into = {bytes.data(), bytes.size()};
  const auto offset = static_cast<off_t>(store.sections().front().offset) + page * static_cast<off_t>(bytes.size());
  const bool can_tell = preadv2(store.descriptor(), &into, 1, offset, RWF_NOWAIT) > 0;  // some file systems cannot
  CHECK(store.find_cached(member) == (can_tell ? StoreAnswer::present : StoreAnswer::not_cached));
}

// Unevenly spread hashes, which fill several MiB, and domains in two.
struct LargeStore : WithPath {
  LargeStore() {
    for (KeyHash i = 0; i < 1'000'000; ++i) hashes.push_back(i < 500'000 ? i : ~KeyHash{0} - (1'000'000 - i));
    for (KeyHash i = 0; i < 200'000; ++i) domains.push_back(7 * i);
    StoreWriter writer(path, {}, hashes.size(), domains.size(), 2, domains.size());
    writer.add(hashes);
    writer.add_domains(domains);
    writer.add_sender_domains(std::span(domains).subspan(1));
    writer.complete();
    writer.stage();
    writer.publish();
  }

  std::vector<KeyHash> hashes;
  std::vector<KeyHash> domains;
};

TEST_CASE_METHOD(LargeStore, "a store of several MiB is read whole, in pieces and page by page") {
  const StoreFile store(path);
  const std::uint64_t bytes = store.sections().front().bytes;
  std::vector<std::uint64_t> told;
  store.verify(2, [&](std::uint64_t done_bytes) { told.push_back(done_bytes); });
  REQUIRE(told.size() == (bytes + kChecksumChunkBytes - 1) / kChecksumChunkBytes);
  for (std::size_t i = 0; i < told.size(); ++i) CHECK(told[i] == std::min((i + 1) * kChecksumChunkBytes, bytes));
  CHECK(store.header().addresses == 1'000'000);
  CHECK(store.find(499'999) == StoreAnswer::present);
  CHECK(store.find(500'000) == StoreAnswer::absent);
  std::vector<KeyHash> all;
  const auto add = [&](std::span<const KeyHash> run) { all.insert(all.end(), run.begin(), run.end()); };
  store.for_each_address(add);
  CHECK((all == hashes));
  all.clear();
  store.for_each_domain(add);
  CHECK((all == domains));
  all.clear();
  store.for_each_sender_domain(add);
  CHECK((all == std::vector<KeyHash>(domains.begin() + 1, domains.end())));
  all = {7};
  store.read_pages(300, 302, all);
  const auto of_page = [&](std::size_t page) { return std::ranges::find(hashes, store.first_hashes()[page]); };
  CHECK(std::equal(all.begin() + 1, all.end(), of_page(300), of_page(302)));
}

TEST_CASE_METHOD(LargeStore, "damage behind the first MiB is reported with the offset of its own") {
  const Sections sections = StoreFile(path).sections();
  const auto error_with = [&](std::uint64_t place, const auto& action) {
    flip_byte(path, place);
    const StoreFile store(path);
    const BloomgateError error = error_of([&] { action(store); });
    flip_byte(path, place);
    CHECK_THAT(error.what(), Catch::Contains(" in the MiB at offset " + std::to_string(*error.details().offset) + ";"));
    return std::pair(error.code(), *error.details().offset);
  };
  const std::uint64_t second = sections[0].offset + kChecksumChunkBytes;
  const auto verify = [](const StoreFile& store) { store.verify(1); };
  CHECK(error_with(second, verify) == std::pair(ErrorCode::bad_body_checksum, second));
  CHECK(error_with(second, [](const StoreFile& store) {
          std::vector<KeyHash> read;
          store.read_pages(257, 258, read);  // only pages that are asked for are read
          store.read_pages(255, 257, read);
        }) == std::pair(ErrorCode::bad_section, second));
  for (const std::size_t section : {2U, 3U}) {
    const std::uint64_t of_domains = sections[section].offset + kChecksumChunkBytes;
    CHECK(error_with(of_domains + 1, verify) == std::pair(ErrorCode::bad_body_checksum, of_domains));
  }
}

TEST_CASE_METHOD(
    InFolder, "how hashes are cut into calls makes no difference, also where a call ends just before a page is full") {
  constexpr std::uint64_t kCount = std::uint64_t{1} << 21;
  std::vector<KeyHash> hashes;
  for (std::uint64_t i = 0; i < kCount; ++i) hashes.push_back(i << 43);  // each page has as many as the first
  const std::size_t of_page = hashes_in_page(hashes, low_bits_for(kCount));
  const std::size_t first_call = 256 * 6 * of_page - 1;
  REQUIRE(first_call < kCount);
  const auto write = [&](const std::string& name, std::size_t in_first_call) {
    StoreWriter writer(folder.file(name), {}, kCount, 0, 2);
    writer.add(std::span(hashes).first(in_first_call));
    writer.add(std::span(hashes).subspan(in_first_call));
    writer.complete();
    writer.stage();
    writer.publish();
  };
  write("one", 0);
  write("two", first_call);
  CHECK(StoreFile(folder.file("two")).header().pages == (kCount + of_page - 1) / of_page);
  CHECK(read_file(folder.file("one")) == read_file(folder.file("two")));
}

TEST_CASE_METHOD(WithPath, "a store whose header says another number of addresses than it has is found by verify") {
  build_filter(folder.file("filter"), numbered_addresses(0, 3000), {.seed = 42, .store_path = path});
  StoreHeader header;
  Sections sections;
  {
    const StoreFile store(path);
    header = store.header();
    sections = store.sections();
  }
  sections.front().items -= 1;
  std::string text = read_file(path);
  encode_store_header(header, sections, std::as_writable_bytes(std::span(text)).first<kHeaderBytes>());
  write_file(path, text);
  const auto says = Catch::Contains(" holds 3000 addresses, but its header says 2999; ");
  CHECK_THROWS_WITH(StoreFile(path).verify(1), says);
  std::vector<std::string> files = {path};
  StoreInputs inputs(files);
  FilterBuilder builder({.seed = 42, .store_seed = header.shape.seed});
  CHECK_THROWS_WITH(inputs.add_to(builder, 1, {}, kNeverStop), says);
}

TEST_CASE_METHOD(WithPath, "a flipped bit anywhere in a store is found by verify or on opening") {
  std::vector<std::string> lines = numbered_addresses(0, 3000);
  lines.insert(lines.end(), {"@example.net", "@example.com"});
  build_filter(folder.file("filter"), lines, {.seed = 42, .store_path = path});
  const std::string whole = read_file(path);
  const Sections sections = StoreFile(path).sections();
  std::vector<std::uint64_t> places = {0, 8, 24, 40, 56, 76, 128, 4095};
  for (const Section& section : sections) {
    places.insert(places.end(), {section.offset - 1, section.offset, section.offset + section.bytes / 2,
                                 section.table_offset() - 1, section.table_offset(), section.end() - 1});
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) places.push_back(random() % whole.size());
  for (const std::uint64_t place : places) {
    write_file(path, whole);
    flip_byte(path, place);
    CAPTURE(place);
    CHECK_THROWS_AS(StoreFile(path).verify(1), BloomgateError);
  }
}

TEST_CASE_METHOD(WithPath, "a look-up in a damaged page says so, and in the other pages it answers") {
  build_filter(folder.file("filter"), numbered_addresses(0, 3000), {.seed = 42, .store_path = path});
  flip_byte(path, StoreFile(path).sections().front().offset + 2000);
  const StoreFile store(path);
  std::size_t damaged = 0;
  std::size_t present = 0;
  for (int i = 0; i < 3000; ++i) {
    const StoreAnswer answer = store.find(store.hash_of("user" + std::to_string(i) + "@example.org"));
    damaged += answer == StoreAnswer::damaged ? 1U : 0U;
    present += answer == StoreAnswer::present ? 1U : 0U;
  }
  CHECK(damaged > 300);
  CHECK(damaged + present == 3000);
}

TEST_CASE_METHOD(WithPath, "a truncated store is reported, and a look-up behind its end is a read error") {
  build_filter(folder.file("filter"), numbered_addresses(0, 3000), {.seed = 42, .store_path = path});
  const StoreFile store(path);
  std::filesystem::resize_file(path, kHeaderBytes);
  CHECK(store.find(store.hash_of("user1@example.org")) == StoreAnswer::unreadable);
  CHECK(error_code_of([&] { store.require_unchanged(); }) == ErrorCode::changed_while_open);
  CHECK(error_code_of([&] { StoreFile again(path); }) == ErrorCode::wrong_size);
}

TEST_CASE_METHOD(InFolder, "a filter opens only with its own store, at its path or staged beside it") {
  const std::string path = folder.file("store");
  build_filter(folder.file("old"), {"joe@example.org"}, {.seed = 1, .store_path = path});
  std::filesystem::copy_file(path, folder.file("old-store"));
  build_filter(folder.file("new"), {"ann@example.org"}, {.seed = 2, .store_path = path});
  const std::uint64_t old_identity = MappedFilter(folder.file("old")).header().store_identity;
  const std::uint64_t new_identity = MappedFilter(folder.file("new")).header().store_identity;
  REQUIRE(old_identity != new_identity);
  CHECK(open_store(path, new_identity, "new")->identity() == new_identity);
  CHECK(error_code_of([&] { open_store(path, old_identity, "old"); }) == ErrorCode::bad_input);

  // As if the writer of the new pair had been stopped before its last step.
  std::filesystem::rename(path, path + ".next");
  std::filesystem::rename(folder.file("old-store"), path);
  CHECK(open_store(path, new_identity, "new")->identity() == new_identity);
  CHECK(open_store(path, old_identity, "old")->identity() == old_identity);
  settle_store(path, folder.file("old"));
  CHECK(std::filesystem::exists(path + ".next"));
  settle_store(path, folder.file("new"));
  CHECK_FALSE(std::filesystem::exists(path + ".next"));
  CHECK(StoreFile(path).identity() == new_identity);
}

TEST_CASE_METHOD(InFolder, "a pipe in place of a store is refused without being opened") {
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const FileDescriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  REQUIRE(inotify_add_watch(watch.get(), pipe.c_str(), IN_OPEN) >= 0);
  CHECK_FALSE(is_store(pipe));
  char event[4096];
  CHECK(read(watch.get(), event, sizeof event) == -1);
  const FileDescriptor opened(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(opened.is_open());
  CHECK(read(watch.get(), event, sizeof event) > 0);  // it would have been seen
}

}  // namespace
}  // namespace bloomgate::test
