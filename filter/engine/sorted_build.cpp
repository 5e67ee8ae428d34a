#include "filter/engine/sorted_build.hpp"

#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kAheadOfThread = 4;  // the most pieces that may be ahead of one that takes long

}  // namespace

SortedBuild::SortedBuild(FilterWriter& filter, StoreWriter& store, const FilterShape& shape, unsigned threads,
                         KnownStrangers* strangers, const std::atomic<bool>& stop, WriteProgress& progress)
    : filter_(filter),
      store_(store),
      shape_(shape),
      threads_(threads),
      strangers_(strangers),
      stop_(stop),
      progress_(progress),
      body_(shape),
      disk_(kChecksumChunkBytes, 2 * (threads + WriteBehind::writers_for(threads)), WriteBehind::writers_for(threads)) {
  progress_.total_bytes = body_bytes(shape);
}

void SortedBuild::run(const NextPiece& next) {
  run_parallel(threads_, [&](unsigned thread) { work_until_done(next, thread); });
  disk_.finish();
}

void SortedBuild::work_until_done(const NextPiece& next, unsigned thread) {
  try {
    while (const Work work = next_work(next)) {
      check_stop(stop_);
      work(thread);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    chunks_.clear();
    changed_.notify_all();
    throw;
  }
}

// The next work; empty if there is none left.
SortedBuild::Work SortedBuild::next_work(const NextPiece& next) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!chunks_.empty()) {
      Work work = std::move(chunks_.front());
      chunks_.pop_front();
      return work;
    }
    if (has_ended_) return {};
    if (has_more_ && begun_ - cut_ < kAheadOfThread * threads_) {
      if (MakePiece make = next()) {
        return [this, index = begun_++, make = std::move(make)](unsigned thread) { make_piece(index, make, thread); };
      }
      has_more_ = false;
    }
    if (!has_more_ && cut_ == begun_) {
      has_ended_ = true;
      plan(body_.cut_rest(), store_.cut_rest());
    } else {
      changed_.wait(lock);
    }
  }
}

void SortedBuild::make_piece(std::size_t index, const MakePiece& make, unsigned thread) {
  const auto hashes = pool_.take();
  make(thread, *hashes);
  const std::lock_guard lock(mutex_);
  made_.emplace(index, HashRun(hashes));
  cut_what_is_there();
}

void SortedBuild::cut_what_is_there() {
  for (auto first = made_.begin(); first != made_.end() && first->first == cut_; first = made_.erase(first), ++cut_) {
    plan(body_.cut(first->second), store_.cut(first->second));
  }
}

void SortedBuild::plan(std::vector<BodyStream::Chunk> body, std::vector<StoreChunk> store) {
  for (auto& chunk : body) {
    chunks_.emplace_back([this, chunk = std::move(chunk)](unsigned) { make(chunk); });
  }
  for (auto& chunk : store) {
    chunks_.emplace_back([this, chunk = std::move(chunk)](unsigned) { make(chunk); });
  }
  changed_.notify_all();
}

void SortedBuild::make(const BodyStream::Chunk& chunk) {
  disk_.add(
      [&](std::span<std::byte> memory) {
        const auto made = body_.make(chunk, memory.first<kChecksumChunkBytes>(), strangers_);
        ones_ += FilterView(shape_, made).count_ones();
        return made;
      },
      [this, begin = chunk.begin](std::span<const std::byte> made) {
        filter_.write(SectionKind::bits, begin, made);
        progress_.done_bytes += made.size();
      });
}

void SortedBuild::make(const StoreChunk& chunk) {
  disk_.add([&](std::span<std::byte> memory) { return store_.make(chunk, memory.first<kChecksumChunkBytes>()); },
            [this, first_page = chunk.first_page](std::span<const std::byte> made) { store_.write(first_page, made); });
}

}  // namespace bloomgate
