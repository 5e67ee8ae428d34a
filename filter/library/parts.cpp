// Parts of filters: bloomgate.h.
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/engine/filter_part.hpp"
#include "filter/engine/join_parts.hpp"
#include "filter/library/boundary.hpp"
#include "filter/library/handles.hpp"

using bloomgate::BlockRange;
using bloomgate::library::guarded;
using bloomgate::library::path_at;
using bloomgate::library::require_pointer;

struct bloomgate_part {
  bloomgate_part(const bloomgate::FilterShape& shape, std::uint64_t expected_entries, const BlockRange& range)
      : part(shape, expected_entries, range) {}

  bloomgate::FilterPart part;
};

int bloomgate_blocks_of_part(const bloomgate_shape* shape, uint64_t part, uint64_t parts, uint64_t* first_block,
                             uint64_t* block_count) {
  return guarded([&] {
    require_pointer(shape, "shape");
    require_pointer(first_block, "first_block");
    require_pointer(block_count, "block_count");
    bloomgate::require_parts(shape->shape);
    const BlockRange range = bloomgate::blocks_of_part(shape->shape.block_count, part, parts);
    *first_block = range.first;
    *block_count = range.count;
  });
}

int bloomgate_parts_of_hashes(const bloomgate_shape* shape, uint64_t parts, const uint64_t* hashes, size_t count,
                              uint64_t* part_numbers) {
  return guarded([&] {
    require_pointer(shape, "shape");
    bloomgate::require_parts(shape->shape);
    const std::uint64_t blocks = shape->shape.block_count;
    bloomgate::blocks_of_part(blocks, 0, parts);  // refuses that number of parts
    if (count == 0) return;
    require_pointer(hashes, "hashes");
    require_pointer(part_numbers, "part_numbers");
    for (std::size_t i = 0; i < count; ++i) {
      part_numbers[i] = bloomgate::part_of_block(blocks, bloomgate::block_of_hash(shape->shape, hashes[i]), parts);
    }
  });
}

int bloomgate_part_new(const bloomgate_shape* shape, uint64_t first_block, uint64_t block_count,
                       bloomgate_part** part) {
  return guarded([&] {
    require_pointer(shape, "shape");
    require_pointer(part, "part");
    const BlockRange range = {.first = first_block, .count = block_count};
    auto made = std::make_unique<bloomgate_part>(shape->shape, shape->expected_entries, range);
    *part = made.release();
  });
}

void bloomgate_part_free(bloomgate_part* part) {
  delete part;
}

int bloomgate_part_add(bloomgate_part* part, const uint64_t* hashes, size_t count) {
  return guarded([&] {
    require_pointer(part, "part");
    if (count == 0) return;
    require_pointer(hashes, "hashes");
    part->part.add({hashes, count});
  });
}

int bloomgate_part_bytes(const bloomgate_part* part, const void** bytes, size_t* byte_count) {
  return guarded([&] {
    require_pointer(part, "part");
    require_pointer(bytes, "bytes");
    require_pointer(byte_count, "byte_count");
    *bytes = part->part.bytes().data();
    *byte_count = part->part.bytes().size();
  });
}

int bloomgate_part_write(const bloomgate_part* part, const char* path, size_t path_bytes) {
  return guarded([&] {
    require_pointer(part, "part");
    part->part.write(path_at(path, path_bytes, "path"), bloomgate::default_threads());
  });
}

int bloomgate_join(const char* const* part_paths, const size_t* part_path_bytes, size_t count, const char* path,
                   size_t path_bytes) {
  return guarded([&] {
    if (count != 0) {
      require_pointer(part_paths, "part_paths");
      require_pointer(part_path_bytes, "part_path_bytes");
    }
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i)
      paths.push_back(path_at(part_paths[i], part_path_bytes[i], "a part's path"));
    const std::atomic<bool> never{false};
    bloomgate::join_parts(paths, path_at(path, path_bytes, "path"), bloomgate::default_threads(), never);
  });
}
