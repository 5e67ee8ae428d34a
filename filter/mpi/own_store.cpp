#include "filter/mpi/own_store.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate::mpi {
namespace {

// How much each thread reads at once: a chunk or two.
constexpr std::uint64_t kHashesAtOnce = std::uint64_t{1} << 19;

}  // namespace

OwnStore::OwnStore(std::string scratch_folder, unsigned threads)
    : scratch_folder_(std::move(scratch_folder)), threads_(threads), file_(unnamed_file(scratch_folder_)), cut_(0) {
  if (!file_.is_open()) {
    throw system_error(ErrorCode::cannot_write, "create a temporary file in", scratch_folder_, errno);
  }
}

void OwnStore::add(std::span<const KeyHash> hashes) {
  if (const int error = write_at(file_.get(), std::as_bytes(hashes), kept_hashes_ * sizeof(KeyHash)); error != 0) {
    throw system_error(ErrorCode::cannot_write,
                       "write the sorted hashes of the store (name a folder with more space with " +
                           choice_names().scratch + ") to a temporary file in",
                       scratch_folder_, error);
  }
  kept_hashes_ += hashes.size();
}

// Returns the hashes that are left.
std::vector<KeyHash> OwnStore::cut_all(StoreCut& cut, const TakeChunks& take) const {
  std::vector<KeyHash> waiting = begin_.left;
  for (std::uint64_t done = 0, is_end = 0; is_end == 0;) {
    const std::size_t before = waiting.size();
    const std::uint64_t count = std::min(kHashesAtOnce * threads_, kept_hashes_ - done);
    waiting.resize(before + count);
    const auto bytes = std::as_writable_bytes(std::span(waiting).subspan(before));
    if (const int error = read_at(file_.get(), bytes, done * sizeof(KeyHash)); error != 0) {
      throw system_error(ErrorCode::cannot_read, "read a temporary file in", scratch_folder_, error);
    }
    done += count;
    is_end = done == kept_hashes_ ? 1 : 0;
    std::span<const KeyHash> rest = waiting;
    take(cut, cut.cut(rest, is_last_ && is_end != 0));
    waiting.erase(waiting.begin(), waiting.end() - static_cast<std::ptrdiff_t>(rest.size()));
  }
  return waiting;
}

CutRest OwnStore::cut(CutRest before, unsigned low_bits, bool is_last) {
  begin_ = std::move(before);
  low_bits_ = low_bits;
  is_last_ = is_last;
  cut_ = StoreCut(low_bits, begin_.first_page);
  std::vector<KeyHash> left = cut_all(cut_, [](const StoreCut&, std::span<const StoreChunk>) {});
  return {cut_.next_page(), std::move(left)};
}

void OwnStore::make(const Write& write) {
  StoreCut again(low_bits_, begin_.first_page);
  cut_all(again, [&](const StoreCut& cut, std::span<const StoreChunk> chunks) {
    std::atomic<std::size_t> next{0};
    run_parallel(static_cast<unsigned>(std::clamp<std::size_t>(chunks.size(), 1, threads_)), [&](unsigned) {
      std::unique_ptr<AnonymousMemory> memory;  // aligned, for direct writes
      for (std::size_t i; (i = next.fetch_add(1)) < chunks.size();) {
        if (!memory) memory = std::make_unique<AnonymousMemory>(kChecksumChunkBytes, "pages of the store");
        write(chunks[i].first_page, cut.make(chunks[i], memory->bytes().first<kChecksumChunkBytes>()));
      }
    });
  });
}

}  // namespace bloomgate::mpi
