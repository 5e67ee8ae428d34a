#include "filter/store/store_format.hpp"

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/keep/kept_pairs.hpp"
#include "filter/store/store_file.hpp"
#include "filter/store/store_page.hpp"
#include "filter/store/store_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// Where FORMAT.md has the fields of a store's header.
constexpr std::size_t kPageBytes = 16;
constexpr std::size_t kHashFamily = 20;
constexpr std::size_t kLowBits = 24;
constexpr std::size_t kSeed = 40;
constexpr std::size_t kKeyFormPlace = 51;
constexpr std::size_t kIdentity = 56;
constexpr std::size_t kChunkBytes = 72;
constexpr std::size_t kPartIndex = 80;
constexpr std::size_t kParts = 84;
constexpr std::size_t kRun = 88;
constexpr std::size_t kRepeated = 96;
constexpr std::size_t kSectionCount = 76;
constexpr std::size_t kSectionTable = 128;
constexpr std::size_t kHeaderChecksum = kHeaderBytes - 8;

using Bytes = std::vector<std::byte>;

constexpr StoreHeader kHeader = {.shape = {.seed = 42}, .low_bits = 50, .pages = 3, .addresses = 300, .domains = 2};

template <typename Integer>
void put(Bytes& bytes, std::size_t offset, Integer value) {
  store_little_endian(bytes.data() + offset, value);
}

Bytes encoded(const StoreHeader& header, const Sections& sections) {
  Bytes bytes(kHeaderBytes);
  encode_store_header(header, sections, std::span(bytes).first<kHeaderBytes>());
  return bytes;
}

// As FORMAT.md has the two numbers that are made from the others.
void seal(Bytes& bytes, std::optional<std::uint64_t> identity = std::nullopt) {
  put(bytes, kIdentity, std::uint64_t{0});
  put(bytes, kIdentity, identity.value_or(checksum(std::span(bytes).first(kHeaderChecksum))));
  put(bytes, kHeaderChecksum, checksum(std::span(bytes).first(kHeaderChecksum)));
}

DecodedStoreHeader decoded(const Bytes& bytes) {
  return decode_store_header(std::span(bytes).first<kHeaderBytes>(), "store");
}

// The error of a header that must be refused, and the offset that it names.
struct Refusal {
  ErrorCode code;
  std::optional<std::uint64_t> offset;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

std::optional<Refusal> refusal_of(const Bytes& bytes) {
  try {
    decoded(bytes);
  } catch (const BloomgateError& error) {
    return Refusal{error.code(), error.details().offset};
  }
  return std::nullopt;
}

TEST_CASE("a store's header is read as it was written, and its identity depends on all fields") {
  const StoreHeader headers[] = {
      kHeader,
      {},
      {.shape = {.hash_family = HashFamily::murmur3,
                 .seed = 7,
                 .profile = {.keep_local_part_case = true, .tag_separators = *TagSeparators::parse("+-")}},
       .low_bits = kMostLowBits,
       .pages = 1,
       .addresses = 1},
      {.shape = {}, .low_bits = 0, .domains = 1},
      {.shape = {}, .low_bits = 0, .domains = 1, .part = {.index = 0, .parts = 1, .run = 7, .repeated = 8}},
      {.shape = {}, .low_bits = 0, .domains = 1, .part = {.index = 6, .parts = 7, .run = 0}},
      {.shape = {}, .low_bits = 1, .pages = 2, .addresses = 2 * kMostHashesOfStorePage, .domains = 1'000'000},
  };
  std::vector<std::uint64_t> identities;
  for (const StoreHeader& header : headers) {
    CAPTURE(header.low_bits);
    const Bytes bytes = encoded(header, sections_of(header));
    const DecodedStoreHeader back = decoded(bytes);
    CHECK(back.header == header);
    CHECK(back.sections == sections_of(header));
    CHECK(back.identity != 0);
    CHECK(load_little_endian<std::uint64_t>(bytes.data() + kIdentity) == back.identity);
    for (const std::uint64_t other : identities) CHECK(back.identity != other);
    identities.push_back(back.identity);
  }
  // What only the tables of the sections tell apart is told apart, too.
  Sections sections = sections_of(kHeader);
  sections.back().table_checksum ^= 1;
  CHECK(decoded(encoded(kHeader, sections)).identity != identities.front());
}

TEST_CASE("an invalid field of a store's header is refused by its place, even with correct checksums") {
  const Bytes good = encoded(kHeader, sections_of(kHeader));
  const auto refused_with = [&](std::size_t offset, auto value) {
    Bytes bytes = good;
    put(bytes, offset, value);
    seal(bytes);
    return refusal_of(bytes);
  };
  const auto bad_at = [](std::size_t offset) { return Refusal{ErrorCode::bad_header_field, offset}; };
  CHECK(refused_with(kPageBytes, std::uint32_t{4096}) == std::nullopt);
  CHECK(refused_with(kPageBytes, std::uint32_t{8192}) == bad_at(kPageBytes));
  CHECK(refused_with(kChunkBytes, std::uint32_t{4096}) == bad_at(kChunkBytes));
  CHECK(refused_with(8, std::uint32_t{2}) == Refusal{ErrorCode::unsupported_version, 8});
  for (const std::uint8_t form : std::initializer_list<std::uint8_t>{0, 2, 255}) {
    CHECK(refused_with(kKeyFormPlace, form) == Refusal{ErrorCode::unsupported_version, kKeyFormPlace});
  }
  CHECK(refused_with(kHashFamily, std::uint32_t{4}) == Refusal{ErrorCode::unsupported_hash, kHashFamily});
  CHECK(refused_with(kLowBits, std::uint32_t{63}) == std::nullopt);
  CHECK(refused_with(kLowBits, std::uint32_t{64}) == bad_at(kLowBits));
  CHECK(refused_with(kSectionCount, std::uint32_t{17}) == bad_at(kSectionCount));
  for (const std::size_t reserved : {28U, 39U, 64U, 71U, 104U, 127U}) {
    INFO("reserved byte " << reserved);
    CHECK(refused_with(reserved, std::uint8_t{1}).has_value());
  }
  // A part has a number below that of the parts; a store of all entries has no number.
  CHECK(refused_with(kPartIndex, std::uint32_t{1}) == bad_at(kPartIndex));
  CHECK(refused_with(kParts, std::uint32_t{1}) == std::nullopt);
  CHECK(refused_with(kParts, StorePart::kMost) == std::nullopt);
  CHECK(refused_with(kParts, StorePart::kMost + 1) == bad_at(kParts));
  CHECK(refused_with(kRun, std::uint64_t{1}) == bad_at(kRun));
  CHECK(refused_with(kRepeated, std::uint64_t{1}) == bad_at(kRepeated));
  CHECK(refused_with(kSeed, std::uint64_t{43}) == std::nullopt);
  StoreHeader part = kHeader;
  part.part = {.index = 7, .parts = 7, .run = 1};
  CHECK(refusal_of(encoded(part, sections_of(part))) == bad_at(kPartIndex));
  Bytes bytes = good;
  seal(bytes, 12345);
  CHECK(refusal_of(bytes) == bad_at(kIdentity));
  bytes = good;
  bytes[kSeed] ^= std::byte{1};
  CHECK(refusal_of(bytes) == Refusal{ErrorCode::bad_header_checksum, kHeaderChecksum});
}

TEST_CASE("the refusal of a store's header says what was wanted") {
  const auto says = [](const StoreHeader& header, Sections sections) -> std::string {
    return error_of([&] { decoded(encoded(header, sections)); }).what();
  };
  const auto with = [](StorePart part, unsigned low_bits = 50) {
    StoreHeader header = kHeader;
    header.part = part;
    header.low_bits = low_bits;
    return header;
  };
  const Sections good = sections_of(kHeader);
  CHECK_THAT(says(with({}, 64), good), Catch::Contains(" is 64 instead of at most 63;"));
  CHECK_THAT(says(with({.parts = StorePart::kMost + 1}), good),
             Catch::Contains(" is 1048577 instead of at most 1048576;"));
  CHECK_THAT(says(with({.index = 9, .parts = 7}), good), Catch::Contains(" is 9 instead of at most 6;"));
  CHECK_THAT(says(kHeader, {good.begin() + 1, good.end()}), Catch::Contains(" is 5 instead of 4"));
  CHECK_THAT(says(kHeader, {good[0], good[2]}), Catch::Contains(" is 4 instead of 5"));
}

TEST_CASE("sections of a store that contradict each other are refused by the field at fault") {
  struct Case {
    std::function<void(Sections&)> change;
    std::size_t section;  // the one that is named
    std::size_t field;    // within its entry of the table
    ErrorCode code = ErrorCode::bad_header_field;
  };
  constexpr std::size_t kKind = 0;
  constexpr std::size_t kOffset = 8;
  constexpr std::size_t kBytes = 16;
  constexpr std::size_t kItems = 24;
  const Case cases[] = {
      {[](Sections& all) { all.erase(all.begin()); }, 0, kKind},      // an index without pages
      {[](Sections& all) { all.erase(all.begin() + 1); }, 0, kKind},  // pages without an index
      {[](Sections& all) { all[0].kind = SectionKind::bits; }, 0, kKind, ErrorCode::unsupported_section},
      {[](Sections& all) { all[0].bytes += kStorePageBytes; }, 0, kBytes},             // more pages than the index has
      {[](Sections& all) { all[0].items = 2; }, 0, kItems},                            // fewer addresses than pages
      {[](Sections& all) { all[0].items = 3 * 8 * kStorePageBytes + 1; }, 0, kItems},  // more than bits in the pages
      {[](Sections& all) { all[0].items = std::numeric_limits<std::uint64_t>::max(); }, 0, kItems},
      {[](Sections& all) { all[1].items = 0; }, 1, kItems},
      {[](Sections& all) { all[2].bytes += 8; }, 2, kBytes},
      {[](Sections& all) { all[0].offset += kSectionAlignment; }, 0, kOffset},
      {[](Sections& all) { all[2].offset += kSectionAlignment; }, 2, kOffset},
      {[](Sections& all) { all[2].offset = all[1].offset; }, 2, kOffset},  // two in one place
  };
  for (const auto& [change, section, field, code] : cases) {
    Sections sections = sections_of(kHeader);
    change(sections);
    CAPTURE(section, field);
    CHECK(refusal_of(encoded(kHeader, sections)) == Refusal{code, kSectionTable + section * 64 + field});
  }
  StoreHeader full = kHeader;
  full.addresses = 3 * 8 * kStorePageBytes;
  CHECK(refusal_of(encoded(full, sections_of(full))) == std::nullopt);
  full.addresses = 3;
  CHECK(refusal_of(encoded(full, sections_of(full))) == std::nullopt);
}

TEST_CASE("a store larger than any file is refused without overflow") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t count : {std::uint64_t{1} << 52, std::uint64_t{1} << 61, kMost / 4096 + 1, kMost}) {
    CAPTURE(count);
    StoreHeader header = kHeader;
    header.pages = header.addresses = count;
    CHECK(error_code_of([&] { sections_of(header); }) == ErrorCode::size_overflow);
  }
  StoreHeader header = kHeader;
  header.domains = kMost / 8 + 2;
  CHECK(error_code_of([&] { sections_of(header); }) == ErrorCode::size_overflow);
}

// A store whose bytes can be changed at will, and which then has every checksum that it ought to have.
class Forged {
 public:
  Forged() {
    std::vector<std::string> lines = numbered_addresses(0, 3000);
    lines.insert(lines.end(), {"@example.net", "@example.com"});
    build_filter(folder_.file("filter"), lines, {.seed = 42, .store_path = path()});
    const StoreFile store(path());
    header_ = store.header();
    sections_ = store.sections();
    const std::string text = read_file(path());
    bytes_.resize(text.size());
    std::ranges::copy(std::as_bytes(std::span(text)), bytes_.begin());
  }

  std::string path() const { return folder_.file("store"); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  const Section& section(std::size_t index) const { return sections_[index]; }
  std::span<std::byte> content(std::size_t index) {
    return std::span(bytes_).subspan(sections_[index].offset, sections_[index].bytes);
  }
  KeyHash hash_at(std::size_t section, std::size_t index) {
    return load_little_endian<KeyHash>(content(section).data() + index * 8);
  }
  void put_hash(std::size_t section, std::size_t index, KeyHash hash) {
    store_little_endian(content(section).data() + index * 8, hash);
  }
  // The hashes of a page.
  std::vector<KeyHash> page(std::size_t index) {
    std::vector<KeyHash> hashes;
    REQUIRE(decode_store_page(page_bytes(index), header_.low_bits, hashes));
    return hashes;
  }
  void put_page(std::size_t index, std::uint64_t number, const std::vector<KeyHash>& hashes) {
    REQUIRE(hashes_in_page(hashes, header_.low_bits) == hashes.size());
    encode_store_page(hashes, header_.low_bits, number, page_bytes(index));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

  void write() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      Section& section = sections_[i];
      REQUIRE(section.chunk_count() == 1);
      const std::span<std::byte> table = std::span(bytes_).subspan(section.table_offset(), section.table_bytes());
      store_little_endian(table.data(), checksum(content(i)));
      section.table_checksum = checksum(table);
    }
    encode_store_header(header_, sections_, std::span(bytes_).first<kHeaderBytes>());
    write_as_is();
  }
  void write_as_is() const { write_file(path(), {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}); }

 private:
  std::span<std::byte, kStorePageBytes> page_bytes(std::size_t index) {
    return content(0).subspan(index * kStorePageBytes).first<kStorePageBytes>();
  }

  TemporaryFolder folder_;
  StoreHeader header_;
  Sections sections_;
  std::vector<std::byte> bytes_;
};

// What is changed in a store, and the error of opening it, or of verifying it.
struct Forgery {
  std::string_view name;
  std::function<void(Forged&)> change;
  std::optional<ErrorCode> opening, verifying;
};

void check(const Forgery& forgery, bool with_its_checksums) {
  INFO(forgery.name);
  Forged store;
  REQUIRE(store.section(1).items >= 3);
  forgery.change(store);
  if (with_its_checksums) store.write();
  if (!with_its_checksums) store.write_as_is();
  const auto open = [&] { return StoreFile(store.path()); };
  if (forgery.opening) {
    CHECK(error_code_of(open) == *forgery.opening);
  } else if (forgery.verifying) {
    const StoreFile opened = open();
    CHECK(error_code_of([&] { opened.verify(1); }) == *forgery.verifying);
  } else {
    CHECK_NOTHROW(open().verify(1));
  }
}

TEST_CASE("the content of a store's sections is checked, even with correct checksums") {
  const auto end_first_page_with = [](Forged& store, KeyHash last) {
    std::vector<KeyHash> hashes = store.page(0);
    hashes.back() = last;
    store.put_page(0, 0, hashes);
  };
  const auto exchange_domains = [](Forged& store) {
    const KeyHash first = store.hash_at(2, 0);
    store.put_hash(2, 0, store.hash_at(2, 1));
    store.put_hash(2, 1, first);
  };
  constexpr auto kBad = ErrorCode::bad_section;
  const Forgery forgeries[] = {
      {"nothing is wrong", [](Forged&) {}, {}, {}},
      {"the index has a hash twice", [](Forged& s) { s.put_hash(1, 2, s.hash_at(1, 1)); }, kBad, {}},
      {"the index has another hash than the page", [](Forged& s) { s.put_hash(1, 1, s.hash_at(1, 1) - 1); }, {}, kBad},
      {"a page ends with the first hash of the next one",
       [&](Forged& s) { end_first_page_with(s, s.hash_at(1, 1)); },
       {},
       kBad},
      {"a page ends behind the first hash of the next one",
       [&](Forged& s) { end_first_page_with(s, s.hash_at(1, 1) + 1); },
       {},
       kBad},
      {"a page stands in another's place", [](Forged& s) { s.put_page(0, 1, s.page(1)); }, {}, kBad},
      {"a domain entry is there twice", [](Forged& s) { s.put_hash(2, 1, s.hash_at(2, 0)); }, {}, kBad},
      {"domain entries descend", exchange_domains, {}, kBad},
      {"between two sections there is something",
       [](Forged& s) { s.bytes()[s.section(1).end()] = std::byte{1}; },
       kBad,
       {}},
  };
  for (const Forgery& forgery : forgeries) check(forgery, true);
}

TEST_CASE("a store has the size that its header says, and the checksums that its tables say") {
  const Forgery forgeries[] = {
      {"a byte too many", [](Forged& s) { s.bytes().push_back({}); }, ErrorCode::wrong_size, {}},
      {"a byte too few", [](Forged& s) { s.bytes().pop_back(); }, ErrorCode::wrong_size, {}},
      {"less than a header", [](Forged& s) { s.bytes().resize(kHeaderBytes - 1); }, ErrorCode::too_short, {}},
      {"a table that its own checksum does not fit",
       [](Forged& s) { s.bytes()[s.section(0).table_offset()] ^= std::byte{1}; },
       ErrorCode::bad_table_checksum,
       {}},
      {"domain entries that their table does not fit",
       [](Forged& s) { s.content(2).front() ^= std::byte{1}; },
       {},
       ErrorCode::bad_body_checksum},
  };
  for (const Forgery& forgery : forgeries) check(forgery, false);
}

TEST_CASE("damage of a store is reported with its place") {
  Forged store;
  const std::uint64_t bytes = store.bytes().size();
  const auto says = [&](std::uint64_t place, const std::string& text) {
    store.write_as_is();
    const BloomgateError error = error_of([&] { StoreFile(store.path()); });
    CHECK(error.details().offset == place);
    CHECK_THAT(error.what(), Catch::Contains(text));
  };
  store.bytes().push_back({});
  says(bytes, " has " + std::to_string(bytes + 1) + " bytes instead of the " + std::to_string(bytes) + " that ");
  store.bytes().resize(bytes - 1);
  says(bytes - 1, " has " + std::to_string(bytes - 1) + " bytes instead of the " + std::to_string(bytes) + " that ");
  store.bytes().resize(bytes);
  const std::uint64_t table = store.section(1).table_offset();
  store.bytes()[table] ^= std::byte{1};
  says(table, "the checksum table at offset " + std::to_string(table) + " is damaged");
  store.bytes()[table] ^= std::byte{1};
  const std::uint64_t end = store.section(1).end();
  store.bytes()[end] = std::byte{1};
  says(end, "between offset " + std::to_string(end) + " and " + std::to_string(store.section(2).offset) + ", between ");
}

TEST_CASE("a store that is written to is not verified, and domain entries that their table does not fit are not read") {
  Forged store;
  const StoreFile opened(store.path());
  CHECK(opened.is_unchanged());
  store.write_as_is();
  CHECK(error_code_of([&] { opened.verify(1); }) == ErrorCode::changed_while_open);
  store.content(2).front() ^= std::byte{1};
  store.write_as_is();
  const StoreFile damaged(store.path());
  CHECK(error_code_of([&] { damaged.for_each_domain([](std::span<const KeyHash>) {}); }) ==
        ErrorCode::bad_body_checksum);
}

TEST_CASE("pages that were cut off meanwhile are a read error, and not damage") {
  const Forged store;
  const StoreFile opened(store.path());
  std::filesystem::resize_file(store.path(), kHeaderBytes + 100);
  const auto nothing = [](std::span<const KeyHash>) {};
  std::vector<KeyHash> hashes;
  CHECK(error_code_of([&] { opened.for_each_address(nothing); }) == ErrorCode::cannot_read);
  CHECK(error_code_of([&] { opened.for_each_domain(nothing); }) == ErrorCode::cannot_read);
  CHECK(error_code_of([&] { opened.read_pages(0, 1, hashes); }) == ErrorCode::cannot_read);
  CHECK(hashes.empty());
}

TEST_CASE("verifying a store reports progress up to the bytes of its pages") {
  const Forged store;
  std::vector<std::uint64_t> told;
  StoreFile(store.path()).verify(2, [&](std::uint64_t bytes) { told.push_back(bytes); });
  CHECK(told == std::vector{store.section(0).bytes});
}

TEST_CASE("a hash before the first of a store is in none of its pages") {
  Forged store;
  const StoreFile opened(store.path());
  const KeyHash first = opened.first_hashes().front();
  REQUIRE(first != 0);
  CHECK(opened.find(first) == StoreAnswer::present);
  CHECK(opened.find(first - 1) == StoreAnswer::absent);
  CHECK(opened.find(0) == StoreAnswer::absent);
  CHECK(opened.find(~KeyHash{0}) == StoreAnswer::absent);
  // Not even the first page is looked into, so that it may be a damaged one.
  store.content(0)[100] ^= std::byte{1};
  store.write_as_is();
  const StoreFile damaged(store.path());
  CHECK(damaged.find(first) == StoreAnswer::damaged);
  CHECK(damaged.find(first - 1) == StoreAnswer::absent);
  CHECK(damaged.find_cached(first - 1) == StoreAnswer::absent);
}

TEST_CASE_METHOD(InFolder, "a store is looked up by its own hash family") {
  build_filter(folder.file("filter"), {"joe@example.org"},
               {.hash_family = HashFamily::murmur3, .seed = 42, .store_path = folder.file("store")});
  const StoreFile store(folder.file("store"));
  CHECK(store.find(hash_key("joe@example.org", store.header().shape.seed, HashFamily::murmur3)) ==
        StoreAnswer::present);
  CHECK(store.find(store.hash_of("joe@example.org")) == StoreAnswer::present);
}

TEST_CASE_METHOD(InFolder, "a store behind a link is staged beside the file, and the link stays") {
  std::filesystem::create_directory(folder.file("there"));
  const std::string target = folder.file("there/store");
  const std::string link = folder.file("store");
  build_filter(folder.file("old"), {"joe@example.org"}, {.seed = 1, .store_path = target});
  std::filesystem::rename(target, folder.file("old-store"));
  build_filter(folder.file("new"), {"ann@example.org"}, {.seed = 2, .store_path = target});
  std::filesystem::rename(target, target + ".next");
  std::filesystem::rename(folder.file("old-store"), target);
  std::filesystem::create_symlink(target, link);
  const std::uint64_t identity = MappedFilter(folder.file("new")).header().store_identity;
  CHECK(open_store(link, identity, "new")->identity() == identity);
  settle_store(link, folder.file("new"));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(StoreFile(target).identity() == identity);
  CHECK_FALSE(std::filesystem::exists(target + ".next"));
}

TEST_CASE_METHOD(WithPath, "a staged store opens only with its own filter") {
  build_filter(folder.file("new"), {"ann@example.org"}, {.seed = 2, .store_path = path});
  std::filesystem::rename(path, path + ".next");
  const std::uint64_t identity = MappedFilter(folder.file("new")).header().store_identity;
  CHECK(open_store(path, identity, "new")->identity() == identity);
  CHECK(error_code_of([&] { open_store(path, identity + 1, "other"); }) == ErrorCode::cannot_open);
  build_filter(folder.file("old"), {"joe@example.org"}, {.seed = 1, .store_path = folder.file("third")});
  std::filesystem::rename(folder.file("third"), path);
  CHECK(error_code_of([&] { open_store(path, identity + 1, "other"); }) == ErrorCode::bad_input);
}

TEST_CASE_METHOD(InFolder, "opening a store for a filter that was built without one is refused with that reason") {
  const BloomgateError error = error_of([&] { open_store(folder.file("store"), 0, "filter"); });
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK(error.what() == std::string("filter was built without a store; build it with 'bloomgate build --store'"));
}

TEST_CASE_METHOD(InFolder, "the size that a writer reports is that of the file, also for an empty store") {
  for (const KeyHash count : {0U, 1U, 3000U}) {
    CAPTURE(count);
    StoreWriter writer(folder.file("store"), {.seed = 42}, count, 1, 1);
    std::vector<KeyHash> hashes;
    for (KeyHash i = 0; i < count; ++i) hashes.push_back(i << 40);
    writer.add(hashes);
    writer.complete();
    writer.stage();
    writer.publish();
    CHECK(writer.file_bytes() == std::filesystem::file_size(folder.file("store")));
    CHECK_NOTHROW(StoreFile(folder.file("store")).verify(1));
  }
}

}  // namespace
}  // namespace bloomgate::test
