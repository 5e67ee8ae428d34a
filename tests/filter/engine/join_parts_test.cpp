#include "filter/engine/join_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "filter/engine/filter_part.hpp"
#include "filter/engine/part_file.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

FilterShape shape_for(std::uint64_t entries, const BuildOptions& options) {
  FilterShape shape = shape_of(options);
  shape.block_count = blocks_for(entries, options.bits_per_entry, shape.block_bytes);
  return shape;
}

// The part files of a filter of these addresses.
std::vector<std::string> write_parts(const TemporaryFolder& folder, const std::vector<std::string>& addresses,
                                     const FilterShape& shape, std::uint64_t expected, std::uint64_t parts) {
  std::vector<std::vector<KeyHash>> hashes(parts);
  for (const std::string& address : addresses) {
    const KeyHash hash = hash_of_address(shape, address);
    hashes[part_of_block(shape.block_count, block_of_hash(shape, hash), parts)].push_back(hash);
  }
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < parts; ++i) {
    FilterPart part(shape, expected, blocks_of_part(shape.block_count, i, parts));
    part.add(hashes[i]);
    paths.push_back(folder.file("part" + std::to_string(i)));
    part.write(paths.back());
  }
  return paths;
}

// Three parts of a small filter.
struct ThreeParts {
  TemporaryFolder folder;
  FilterShape shape = shape_for(20'000, {.seed = 42});
  std::vector<std::string> paths = write_parts(folder, numbered_addresses(0, 20'000), shape, 20'000, 3);

  ErrorCode join(const std::vector<std::string>& parts) const {
    return error_code_of([&] { join_parts(parts, folder.file("joined"), 2, kNeverStop); });
  }
  bool nothing_is_left() const { return !std::filesystem::exists(folder.file("joined")); }
};

TEST_CASE("parts joined in any order are byte for byte what one build makes") {
  struct Row {
    BuildOptions options;
    std::uint64_t entries;
    std::uint64_t parts;
  };
  const Row row = GENERATE(values<Row>({
      {{.seed = 42}, 20'000, 1},
      {{.seed = 42}, 20'000, 3},
      {{.seed = 42}, 20'000, 5},  // a block each
      {{.block_bytes = 8192, .bits_per_entry = 16, .hashes = 11, .seed = 7}, 100'000, 7},
      {{.layout = Layout::line, .hashes = 5, .seed = 1}, 30'000, 4},
      {{.layout = Layout::line, .seed = 1}, 30'000, 29},
      {{.hash_family = HashFamily::murmur3, .seed = 3}, 300'000, 2},  // so many that they are sorted first
      {{.bits_per_entry = 60, .seed = 3}, 400'000, 3},                // MiBs that several parts share
  }));
  const TemporaryFolder folder;
  auto addresses = numbered_addresses(0, row.entries);
  const auto twice = numbered_addresses(0, 100);  // and counted twice
  addresses.insert(addresses.end(), twice.begin(), twice.end());
  BuildOptions options = row.options;
  options.expected_entries = row.entries;
  build_filter(folder.file("built"), addresses, options);
  std::ranges::shuffle(addresses, std::mt19937(1));
  const FilterShape shape = shape_for(row.entries, row.options);
  auto paths = write_parts(folder, addresses, shape, row.entries, row.parts);
  std::ranges::shuffle(paths, std::mt19937(2));
  const FilterHeader header = join_parts(paths, folder.file("joined"), 2, kNeverStop);
  CHECK(header.addresses == row.entries + 100);
  CHECK((read_file(folder.file("joined")) == read_file(folder.file("built"))));  // not to be printed
}

TEST_CASE("each block belongs to one part, and the parts are as even as can be") {
  for (const std::uint64_t blocks : {1ULL, 2ULL, 7ULL, 100ULL, 244'141ULL, 1ULL << 49}) {
    for (const std::uint64_t parts : {1ULL, 2ULL, 3ULL, 7ULL, 64ULL, 99'991ULL}) {
      if (parts > blocks) continue;
      CAPTURE(blocks, parts);
      std::uint64_t end = 0;
      for (std::uint64_t i = 0; i < parts; ++i) {
        const BlockRange range = blocks_of_part(blocks, i, parts);
        REQUIRE(range.first == end);
        REQUIRE(range.count >= blocks / parts);
        REQUIRE(range.count <= blocks / parts + 1);
        REQUIRE(part_of_block(blocks, range.first, parts) == i);
        REQUIRE(part_of_block(blocks, range.end() - 1, parts) == i);
        end = range.end();
      }
      CHECK(end == blocks);
    }
  }
  CHECK(error_code_of([] { blocks_of_part(5, 0, 6); }) == ErrorCode::bad_argument);
  CHECK(error_code_of([] { blocks_of_part(5, 0, 0); }) == ErrorCode::bad_argument);
  CHECK(error_code_of([] { blocks_of_part(5, 5, 5); }) == ErrorCode::bad_argument);
}

TEST_CASE("a hash of another part is refused with all hashes that came with it") {
  const FilterShape shape = shape_for(20'000, {.seed = 42});
  FilterPart part(shape, 20'000, {.first = 1, .count = 2});
  const KeyHash in_block[] = {0, KeyHash{1} << 63, ~KeyHash{0}, KeyHash{11} << 60};
  REQUIRE(block_of_hash(shape, in_block[1]) == 2);
  REQUIRE(block_of_hash(shape, in_block[3]) == 3);
  CHECK(error_code_of([&] { part.add(std::vector<KeyHash>{in_block[1], in_block[0]}); }) == ErrorCode::bad_argument);
  CHECK(error_code_of([&] { part.add(std::vector<KeyHash>{in_block[1], in_block[2]}); }) == ErrorCode::bad_argument);
  CHECK(error_code_of([&] { part.add(std::vector<KeyHash>{in_block[1], in_block[3]}); }) == ErrorCode::bad_argument);
  CHECK(part.addresses() == 0);
  CHECK(std::ranges::all_of(part.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  part.add(std::vector<KeyHash>{in_block[1]});
  CHECK(part.addresses() == 1);
}

TEST_CASE("the last of more hashes than are sorted at once is added as the first is") {
  const FilterShape shape = shape_for(20'000, {.seed = 42});
  const BlockRange range = {.first = 1, .count = 2};
  const KeyHash first = KeyHash{1} << 63;
  const KeyHash last = KeyHash{5} << 60;
  std::vector<KeyHash> many(std::size_t{3} << 20, first);
  many.back() = last;
  FilterPart part(shape, 20'000, range);
  part.add(many);
  CHECK(part.addresses() == many.size());
  FilterPart with_two(shape, 20'000, range);
  with_two.add(std::vector<KeyHash>{first, last});
  CHECK(std::ranges::equal(part.bytes(), with_two.bytes()));
}

TEST_CASE("a range outside the filter is refused, and so are other kinds of filters") {
  const FilterShape shape = shape_for(20'000, {.seed = 42});
  const std::uint64_t most = UINT64_MAX;
  for (const BlockRange range : {BlockRange{0, 0}, BlockRange{0, 6}, BlockRange{5, 1}, BlockRange{4, 2},
                                 BlockRange{most, 1}, BlockRange{1, most}, BlockRange{most, most}}) {
    CAPTURE(range.first, range.count);
    CHECK(error_code_of([&] { FilterPart(shape, 20'000, range); }) == ErrorCode::bad_argument);
  }
  for (const Layout layout : {Layout::classic, Layout::partitioned, Layout::counting}) {
    const FilterShape other = shape_for(20'000, {.layout = layout, .seed = 42});
    CHECK(error_code_of([&] { FilterPart(other, 20'000, {0, 1}); }) == ErrorCode::unsupported_layout);
  }
  const FilterShape stored = shape_for(20'000, {.seed = 42, .store_seed = 7});
  CHECK(error_code_of([&] { FilterPart(stored, 20'000, {0, 1}); }) == ErrorCode::bad_argument);
}

TEST_CASE("a part that is missing, given twice or of another filter is an error, and nothing is written") {
  const ThreeParts three;
  const auto& paths = three.paths;
  CHECK(three.join({}) == ErrorCode::bad_argument);
  CHECK(three.join({paths[0], paths[1]}) == ErrorCode::bad_input);
  CHECK(three.join({paths[1], paths[2]}) == ErrorCode::bad_input);
  CHECK(three.join({paths[0], paths[2]}) == ErrorCode::bad_input);
  CHECK(three.join({paths[0], paths[1], paths[1], paths[2]}) == ErrorCode::bad_input);
  const TemporaryFolder other;
  const auto addresses = numbered_addresses(0, 20'000);
  CHECK(three.join({paths[0], write_parts(other, addresses, shape_for(20'000, {.seed = 43}), 20'000, 3)[1],
                    paths[2]}) == ErrorCode::bad_input);
  // The same shape, sized for another number of entries.
  CHECK(three.join({paths[0], write_parts(other, addresses, three.shape, 19'999, 3)[1], paths[2]}) ==
        ErrorCode::bad_input);
  CHECK(three.join({paths[0], paths[1], three.folder.file("missing")}) == ErrorCode::cannot_open);
  CHECK(three.join({three.folder.path().string()}) == ErrorCode::not_a_regular_file);
  CHECK(three.nothing_is_left());
}

TEST_CASE("a damaged part is refused with the code that says where, and nothing is written") {
  const ThreeParts three;
  const std::string path = three.paths[1];
  const std::string whole = read_file(path);
  const auto join_with = [&](const std::string& bytes) {
    write_file(path, bytes);
    return three.join(three.paths);
  };
  const auto changed = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  };
  CHECK(join_with("") == ErrorCode::too_short);
  CHECK(join_with(whole.substr(0, 4095)) == ErrorCode::too_short);
  CHECK(join_with(whole.substr(0, whole.size() - 1)) == ErrorCode::wrong_size);
  CHECK(join_with(whole + "x") == ErrorCode::wrong_size);
  CHECK(join_with(changed(3)) == ErrorCode::bad_magic);
  CHECK(join_with(changed(40)) == ErrorCode::bad_header_checksum);
  CHECK(join_with(changed(4056)) == ErrorCode::bad_header_checksum);
  CHECK(join_with(changed(4096)) == ErrorCode::bad_body_checksum);
  CHECK(join_with(changed(whole.size() - 9)) == ErrorCode::bad_body_checksum);
  CHECK(join_with(changed(whole.size() - 1)) == ErrorCode::bad_table_checksum);
  // A filter is no part.
  build_filter(path, {"joe@example.org"});
  CHECK(three.join(three.paths) == ErrorCode::bad_magic);
  CHECK(three.nothing_is_left());
}

TEST_CASE("a part's header is read as it was written, and one with an invalid field is refused") {
  PartHeader header = {.filter = {.shape = shape_for(20'000, {.seed = 42}), .expected_entries = 20'000, .addresses = 5},
                       .range = {1, 2},
                       .table_checksum = 99};
  std::array<std::byte, kHeaderBytes> bytes = {};
  const auto decoded = [&] {
    bytes.fill(std::byte{0});
    encode_part_header(header, bytes);
    return decode_part_header(bytes, "x");
  };
  CHECK(decoded() == header);
  const auto refused = [&](auto change) {
    const PartHeader before = header;
    change(header);
    const ErrorCode code = error_code_of([&] { decoded(); });
    header = before;
    return code;
  };
  CHECK(refused([](PartHeader& h) { h.range = {0, 0}; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.range = {4, 2}; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.range = {UINT64_MAX, 2}; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.range = {2, UINT64_MAX}; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.domains = 1; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.kinds.pairs_in_bits = 1; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.strangers.known = 1; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.store_identity = 1; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.shape.store_seed = 1; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.bits_set = 31; }) == ErrorCode::bad_header_field);
  CHECK(refused([](PartHeader& h) { h.filter.shape.layout = Layout::classic; }) == ErrorCode::bad_header_field);
}

TEST_CASE("a stop ends a join and leaves the earlier file") {
  const ThreeParts three;
  write_file(three.folder.file("joined"), "earlier");
  const std::atomic<bool> stop{true};
  CHECK(error_code_of([&] { join_parts(three.paths, three.folder.file("joined"), 2, stop); }) ==
        ErrorCode::interrupted);
  CHECK(read_file(three.folder.file("joined")) == "earlier");
}

}  // namespace
}  // namespace bloomgate::test
