// Updates: the pair is the one that a build from the changed list gives, byte for byte, whatever the way there; what is
// wrong with the old store is found.
#include "filter/engine/store_update.hpp"

#include <filesystem>
#include <memory>

#include "changed_filters.hpp"
#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kStoreSeed = 3;

BuildOptions options_in(const TemporaryFolder& folder, Layout layout, const std::string& name) {
  return {.layout = layout,
          .hashes = layout == Layout::ribbon ? 1U : 6U,
          .seed = 7,
          .memory_bytes = std::uint64_t{32} << 20,
          .scratch_folder = folder.path(),
          .store_path = folder.file(name + ".store"),
          .store_seed = kStoreSeed};
}

struct Updated {
  UpdateCounts counts;
  FilterHeader header;
};

// From `folder`/old.store to `folder`/new and new.store.
Updated update(const TemporaryFolder& folder, const BuildOptions& options, const std::vector<std::string>& added,
               const std::vector<std::string>& removed, std::uint64_t pages_of_piece) {
  const StoreFile old(folder.file("old.store"));
  StoreUpdate update(old, StoreUpdate::options_for(old, options), pages_of_piece);
  add_to(update.added(), added);
  add_to(update.removed(), removed);
  WriteProgress progress;
  Updated updated;
  updated.counts = update.count(kNeverStop);
  updated.header = update.write(folder.file("new"), kNeverStop, progress);
  CHECK(update.addresses() == updated.header.addresses);
  CHECK(update.domains() == updated.header.domains);
  CHECK(progress.done_bytes == progress.total_bytes);
  CHECK(progress.done_bytes == body_bytes(updated.header.shape));
  return updated;
}

TEST_CASE("hashes are merged in their order, the least and the greatest of all as well") {
  using Hashes = std::vector<KeyHash>;
  constexpr KeyHash kLast = ~KeyHash{0};
  struct Row {
    Hashes old;
    Hashes added;
    Hashes removed;
    Hashes want;
    UpdateCounts counts;
  };
  const Row row = GENERATE(values<Row>({{{0, 5, kLast}, {}, {}, {0, 5, kLast}, {}},
                                        {{5}, {0, kLast}, {}, {0, 5, kLast}, {.added = 2}},
                                        {{0, 5, kLast}, {0, kLast}, {}, {0, 5, kLast}, {.already_there = 2}},
                                        {{0, 5, kLast}, {}, {0, kLast}, {5}, {.removed = 2}},
                                        {{5}, {}, {0, kLast}, {5}, {.not_there = 2}},
                                        {{kLast}, {4}, {5}, {4, kLast}, {.added = 1, .not_there = 1}},
                                        {{}, {4, 6}, {5}, {4, 6}, {.added = 2, .not_there = 1}}}));
  Hashes out;
  CHECK(merge_hashes(row.old, row.added, row.removed, out) == row.counts);
  CHECK(out == row.want);
}

TEST_CASE("an update gives the bytes of a build from the changed list, with any threads and pieces") {
  // With so many hashes a store has two chunks of pages.
  const std::uint64_t entries = kIsSanitized ? 20'000 : 400'000;
  const auto layout = GENERATE(Layout::page, Layout::ribbon);
  const unsigned threads = GENERATE(1U, 3U);
  if (kIsSanitized && threads == 1) return;
  const std::uint64_t pages_of_piece = threads == 1 ? StoreMerge::kPagesOfPiece : 1;
  // With changes to each page the pages are decoded to count them, and with few they are looked up.
  const std::uint64_t changed = GENERATE_COPY(std::uint64_t{40}, entries / 10);
  CAPTURE(layout_rules(layout).name(), threads, pages_of_piece, changed);
  const TemporaryFolder folder;
  auto lines = numbered_addresses(0, entries);
  lines.insert(lines.end(), {"@kept.example", "@gone.example"});
  build_filter(folder.file("old"), lines, options_in(folder, layout, "old"));

  auto added = numbered_addresses(entries - changed / 2, changed);
  added.insert(added.end(), {"@kept.example", "@.new.example", "@both.example"});
  auto removed = numbered_addresses(entries + changed / 4, changed);
  removed.insert(removed.end(), {"@gone.example", "@both.example"});
  const auto more = numbered_addresses(0, changed / 2);
  removed.insert(removed.end(), more.begin(), more.end());
  BuildOptions options = options_in(folder, layout, "new");
  options.threads = threads;
  options.expected_entries = entries * 3;  // several chunks of the array
  const Updated got = update(folder, options, added, removed, pages_of_piece);
  const std::uint64_t both = changed / 2 - changed / 4;
  CHECK(got.counts == UpdateCounts{.added = changed / 4 + 1,
                                   .already_there = changed / 2 + 1,
                                   .removed = changed / 2 + 1,
                                   .not_there = changed + 1,
                                   .both = both + 1});

  auto want = numbered_addresses(changed / 2, entries - changed / 2 + changed / 4);
  want.insert(want.end(), {"@kept.example", "@.new.example"});
  BuildOptions built = options_in(folder, layout, "want");
  built.expected_entries = entries * 3;
  CHECK(build_filter(folder.file("want"), want, built) == got.header);
  CHECK((read_file(folder.file("new")) == read_file(folder.file("want"))));
  CHECK((read_file(folder.file("new.store")) == read_file(folder.file("want.store"))));
}

TEST_CASE("an update excludes the senders that a build with its seeds excludes, with any threads and pieces") {
  const auto layout = GENERATE(Layout::page, Layout::ribbon);
  const unsigned threads = GENERATE(1U, 3U);
  CAPTURE(layout_rules(layout).name(), threads);
  const TemporaryFolder folder;
  auto lines = numbered_addresses(0, 20'000);
  build_filter(folder.file("old"), lines, options_in(folder, layout, "old"));
  const auto added = numbered_addresses(20'000, 1000);
  lines.insert(lines.end(), added.begin(), added.end());
  lines.push_back("@corp.example");
  auto strangers = numbered_addresses(20'990, 20'000);  // ten are entries
  strangers.insert(strangers.end(), {"eve@corp.example", "user0@example.org"});

  BuildOptions built = options_in(folder, layout, "want");
  built.bits_per_entry = 4;
  const FilterHeader want = build_with_strangers(folder.file("want"), lines, strangers, built);
  CHECK(want.strangers == KnownStrangerCounts{.known = 20'002, .entries = 11, .by_domain = 1});
  CHECK(want.excluded > 100);
  CHECK(want.excluded < 10'000);  // the others' bits are not all set

  BuildOptions options = options_in(folder, layout, "new");
  options.bits_per_entry = 4;
  options.threads = threads;
  const StoreFile old(folder.file("old.store"));
  options = StoreUpdate::options_for(old, options);
  const auto known = strangers_of(options, strangers);
  StoreUpdate update(old, options, 1);
  update.set_strangers(*known, [&] { known->entry_of(EntryKind::address, "eve@corp.example"); });
  add_to(update.added(), added);
  add_to(update.added(), {"@corp.example"});
  WriteProgress progress;
  update.count(kNeverStop);
  CHECK(update.write(folder.file("new"), kNeverStop, progress) == want);
  CHECK((read_file(folder.file("new")) == read_file(folder.file("want"))));
}

TEST_CASE_METHOD(
    InFolder, "an update takes the hashes' family, profile and seed from the store, and its size from the new number") {
  BuildOptions options = options_in(folder, Layout::page, "old");
  options.hash_family = HashFamily::murmur3;
  options.profile.keep_local_part_case = true;
  build_filter(folder.file("old"), {"A@example.org", "b@example.org"}, options);
  BuildOptions other = options_in(folder, Layout::page, "new");
  other.store_seed = 55;
  const FilterHeader header = update(folder, other, numbered_addresses(0, 10'000), {}, 1).header;
  CHECK(header.shape.hash_family == HashFamily::murmur3);
  CHECK(header.shape.profile.keep_local_part_case);
  CHECK(header.shape.store_seed == kStoreSeed);
  CHECK(header.expected_entries == 10'002);
}

TEST_CASE_METHOD(InFolder, "everything can be removed, and an empty store be filled") {
  const auto lines = numbered_addresses(0, 1000);
  build_filter(folder.file("old"), lines, options_in(folder, Layout::page, "old"));
  const Updated emptied = update(folder, options_in(folder, Layout::page, "new"), {}, lines, 1);
  CHECK(emptied.counts.removed == 1000);
  CHECK(emptied.header.bits_set == 0);
  CHECK(emptied.header.expected_entries == 1);
  std::filesystem::rename(folder.file("new.store"), folder.file("old.store"));
  CHECK(update(folder, options_in(folder, Layout::page, "new"), lines, {}, 1).counts.added == 1000);
  CHECK(MappedFilter(folder.file("new")).view().may_contain(lines[999]));
}

TEST_CASE_METHOD(InFolder, "a damaged page of the old store ends an update, and nothing is written") {
  build_filter(folder.file("old"), numbered_addresses(0, 20'000), options_in(folder, Layout::page, "old"));
  std::uint64_t offset = 0;
  {
    const StoreFile old(folder.file("old.store"));
    offset = old.sections().front().offset + old.header().pages / 2 * kStorePageBytes + 100;
  }
  flip_byte(folder.file("old.store"), offset);
  const StoreFile old(folder.file("old.store"));
  StoreUpdate update(old, StoreUpdate::options_for(old, options_in(folder, Layout::page, "new")));
  // Among so many, or so few that each is looked up by itself, one falls into that page.
  const unsigned added = GENERATE(500U, 60U, 0U);
  CAPTURE(added);
  if (added != 0) {
    add_to(update.added(), numbered_addresses(30'000, added));
    CHECK_THROWS_AS(update.count(kNeverStop), BloomgateError);
  } else {
    CHECK(update.count(kNeverStop) == UpdateCounts{});
  }
  WriteProgress progress;
  CHECK_THROWS_AS(update.write(folder.file("new"), kNeverStop, progress), BloomgateError);
  CHECK_FALSE(std::filesystem::exists(folder.file("new")));
  CHECK_FALSE(std::filesystem::exists(folder.file("new.store")));
}

TEST_CASE_METHOD(InFolder,
                 "an old store that is written to, or whose header has another number than its pages, ends an update") {
  const std::string path = folder.file("old.store");
  build_filter(folder.file("old"), numbered_addresses(0, 1000), options_in(folder, Layout::page, "old"));
  const bool is_written_to = GENERATE(false, true);
  if (!is_written_to) {
    Sections sections = StoreFile(path).sections();
    ++sections.front().items;
    std::string text = read_file(path);
    encode_store_header(StoreFile(path).header(), sections,
                        std::as_writable_bytes(std::span(text)).first<kHeaderBytes>());
    write_file(path, text);
  }
  make_old(path);
  const StoreFile old(path);
  StoreUpdate update(old, StoreUpdate::options_for(old, options_in(folder, Layout::page, "new")));
  update.count(kNeverStop);
  if (is_written_to) write_file(path, read_file(path));
  WriteProgress progress;
  CHECK(error_code_of([&] { update.write(folder.file("new"), kNeverStop, progress); }) ==
        (is_written_to ? ErrorCode::changed_while_open : ErrorCode::bad_section));
  CHECK_FALSE(std::filesystem::exists(folder.file("new")));
}

TEST_CASE_METHOD(InFolder,
                 "as many pairs are kept as were asked for, by a build and by an update, and both are signed") {
  BuildOptions options = options_in(folder, Layout::page, "old");
  options.threads = 3;
  options.kept_generations = 1;
  options.sign_key = std::make_shared<const SecretKey>(signing_key());
  const auto content = [&] { return read_file(folder.file("old")) + read_file(folder.file("old.store")); };
  const auto kept = [&] { return read_file(folder.file("old.1")) + read_file(folder.file("old.store.1")); };
  const auto is_signed = [&] { return MappedFilter(folder.file("old")).signature().has_value(); };
  build_filter(folder.file("old"), numbered_addresses(0, 10), options);
  const std::string first = content();
  build_filter(folder.file("old"), numbered_addresses(0, 20), options);
  CHECK(kept() == first);
  CHECK(is_signed());
  const std::string second = content();
  update_pair(folder.file("old"), folder.file("old"), options, numbered_addresses(20, 10), {});
  CHECK(kept() == second);
  CHECK(is_signed());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 4);
}

TEST_CASE_METHOD(InFolder,
                 "if a filter cannot be published, the store of the old one stays, also if it was only staged") {
  const std::string path = folder.file("old");
  BuildOptions options = options_in(folder, Layout::page, "old");
  build_filter(path, numbered_addresses(0, 10), options);
  // As a process leaves them that is killed between the two.
  std::filesystem::rename(path + ".store", path + ".store.next");
  write_file(path + ".1", "kept");
  std::filesystem::create_directories(path + ".2/in-the-way");
  options.kept_generations = 2;
  CHECK(error_code_of([&] { build_filter(path, numbered_addresses(0, 20), options); }) == ErrorCode::cannot_write);
  const std::uint64_t identity = MappedFilter(path).header().store_identity;
  CHECK(open_store(path + ".store", identity, path)->header().addresses == 10);
  CHECK_FALSE(std::filesystem::exists(path + ".store.next"));
}

TEST_CASE_METHOD(InFolder, "ranges of a store, merged one by one, are together the whole store") {
  build_filter(folder.file("old"), numbered_addresses(0, 30'000), options_in(folder, Layout::page, "old"));
  const StoreFile old(folder.file("old.store"));
  StoreUpdate all(old, StoreUpdate::options_for(old, options_in(folder, Layout::page, "new")));
  add_to(all.added(), numbered_addresses(29'000, 3000));
  add_to(all.removed(), numbered_addresses(31'500, 1000));
  add_to(all.removed(), numbered_addresses(0, 700));
  const auto hashes_in = [&](HashRange range, UpdateCounts& counts) {
    // The changes of a range, as its owner has them.
    GatheredHashes added(1, std::uint64_t{8} << 20, folder.path());
    GatheredHashes removed(1, std::uint64_t{8} << 20, folder.path());
    for (std::size_t partition = 0; partition < GatheredHashes::partition_count(); ++partition) {
      for (const KeyHash hash : all.added().addresses().sorted_once(partition)) {
        if (range.has(hash)) added.lane(0).add(hash);
      }
      for (const KeyHash hash : all.removed().addresses().sorted_once(partition)) {
        if (range.has(hash)) removed.lane(0).add(hash);
      }
    }
    added.lane(0).settle();
    removed.lane(0).settle();
    StoreMerge merge(old, added, removed, 2, 1, range);
    counts += merge.count(kNeverStop);
    std::vector<KeyHash> hashes;
    StoreMerge::Scratch scratch;
    while (const auto piece = merge.next_piece()) merge.merge(*piece, scratch, hashes);
    return hashes;
  };
  UpdateCounts wanted_counts;
  const std::vector<KeyHash> wanted = hashes_in({}, wanted_counts);
  CHECK(wanted.size() == 30'000 - 700 + 1500);
  CHECK(wanted_counts ==
        UpdateCounts{.added = 1500, .already_there = 1000, .removed = 700, .not_there = 1000, .both = 500});

  // Within a partition, where a page begins, right behind a hash, and where a partition begins.
  const std::vector<KeyHash> borders = {GatheredHashes::first_hash(3) + 12'345, old.first_hashes()[9],
                                        wanted[12'000] + 1,
                                        GatheredHashes::first_hash(GatheredHashes::partition_count() / 32 * 25)};
  UpdateCounts counts;
  std::vector<KeyHash> got;
  KeyHash first = 0;
  for (std::size_t i = 0; i <= borders.size(); ++i) {
    const KeyHash last = i == borders.size() ? ~KeyHash{0} : borders[i] - 1;
    const std::vector<KeyHash> part = hashes_in({first, last}, counts);
    CHECK((part.empty() || (part.front() >= first && part.back() <= last)));
    got.insert(got.end(), part.begin(), part.end());
    first = last + 1;
  }
  CHECK((got == wanted));
  CHECK(counts == wanted_counts);
}

TEST_CASE_METHOD(InFolder, "an update that is stopped leaves nothing behind") {
  build_filter(folder.file("old"), numbered_addresses(0, 1000), options_in(folder, Layout::page, "old"));
  const StoreFile old(folder.file("old.store"));
  const BuildOptions options = StoreUpdate::options_for(old, options_in(folder, Layout::page, "new"));
  StoreUpdate update(old, options);
  const std::atomic<bool> stop{true};
  WriteProgress progress;
  CHECK_THROWS_AS(update.count(stop), BloomgateError);
  update.count(kNeverStop);
  CHECK_THROWS_AS(update.write(folder.file("new"), stop, progress), BloomgateError);
  CHECK(progress.done_bytes == 0);
  // While its caller looks at the excluded senders.
  const auto known = strangers_of(options, {"eve@example.org"});
  std::atomic<bool> stops_late{false};
  StoreUpdate late(old, options);
  late.set_strangers(*known, [&] { stops_late = true; });
  late.count(kNeverStop);
  CHECK(error_code_of([&] { late.write(folder.file("new"), stops_late, progress); }) == ErrorCode::interrupted);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

}  // namespace
}  // namespace bloomgate::test
