#include "filter/keep/kept_pairs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/new_file.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/generations.hpp"
#include "filter/store/store_file.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

// 0 if the filter names no store, or cannot be used.
std::uint64_t store_identity_of(const std::string& filter_path) {
  try {
    return MappedFilter(filter_path).header().store_identity;
  } catch (const BloomgateError&) {
    return 0;
  }
}

// Nothing if there is no usable store.
std::optional<std::uint64_t> identity_of(const std::string& store_path) {
  try {
    return StoreFile(store_path).identity();
  } catch (const BloomgateError&) {
    return std::nullopt;
  }
}

std::optional<Generation> kept_store(const std::string& store_path, std::uint64_t identity) {
  const std::vector<Generation> kept = kept_generations(store_path);
  const auto found =
      std::ranges::find_if(kept, [&](const Generation& each) { return identity_of(each.path) == identity; });
  return found != kept.end() ? std::optional(*found) : std::nullopt;
}

void remove(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) throw system_error(ErrorCode::cannot_write, "remove", path, errno);
}

// Puts the store where open_store() finds it until it is at its path.
void stage_kept(const Generation& store, const std::string& store_path) {
  const std::string staged = staged_path(store_path);
  remove(staged);  // from a writer that ended before it had published its filter
  if (link(store.path.c_str(), staged.c_str()) != 0) {
    throw system_error(ErrorCode::cannot_write, "link to", staged, errno);
  }
}

}  // namespace

FileDescriptor lock_pair(const std::string& store_path) {
  const std::string folder = folder_of(resolve_link(store_path));
  FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (file.is_open() && flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
  return file;
}

unsigned stores_to_keep(const std::string& store_path, const std::string& filter_path) {
  const std::vector<Generation> filters = kept_generations(resolve_link(filter_path));
  if (filters.empty()) return 0;
  const std::optional<std::uint64_t> identity = identity_of(store_path);
  const auto needs_it = [&](const Generation& filter) { return store_identity_of(filter.path) == identity; };
  return identity && std::ranges::any_of(filters, needs_it) ? filters.back().number : 0;
}

void settle_store(const std::string& store_path, const std::string& filter_path) {
  const std::string store = resolve_link(store_path);
  const std::string staged = staged_path(store);
  const std::optional<std::uint64_t> identity = identity_of(staged);
  if (!identity || identity != store_identity_of(filter_path)) return;  // no pair has to be completed
  if (is_same_file(staged, store)) return remove(staged);
  // The staged store may be a kept one. Then its number is free for the store that it replaces.
  for (const Generation& kept : kept_generations(store)) {
    if (!is_same_file(staged, kept.path)) continue;
    exchange_generation(store, kept.number);
    return remove(staged);
  }
  keep_generation(store, stores_to_keep(store, filter_path));
  if (rename(staged.c_str(), store.c_str()) != 0) {
    throw system_error(ErrorCode::cannot_write, "rename to", store_path, errno);
  }
}

void exchange_pair(const std::string& filter_path, unsigned number, const std::string& store_path, unsigned threads) {
  const std::string filter = resolve_link(filter_path);
  const std::string store = resolve_link(store_path);
  const FileDescriptor lock = lock_pair(store);
  settle_store(store, filter);
  const std::string generation = generation_path(filter, number);
  const std::uint64_t identity = store_identity_of(generation);
  if (identity == 0 || identity_of(store) == identity) return exchange_generation(filter, number);
  const std::optional<Generation> kept = kept_store(store, identity);
  if (!kept) {
    throw BloomgateError(ErrorCode::bad_input,
                         "the store of " + generation + " is neither " + store +
                             " nor kept beside it; build the pair again with 'bloomgate build --store'",
                         {.path = generation});
  }
  StoreFile(kept->path).verify(threads);
  stage_kept(*kept, store);
  exchange_generation(filter, number);
  exchange_generation(store, kept->number);
  remove(staged_path(store));
}

}  // namespace bloomgate
