#include "filter/system/write_behind.hpp"

#include <utility>

namespace bloomgate {

WriteBehind::WriteBehind(std::size_t piece_bytes, unsigned pieces, unsigned writers) : free_pieces_(pieces) {
  if (pieces != 0) memory_.emplace(piece_bytes * pieces, "what waits to be written");
  for (unsigned i = 0; i < pieces; ++i) free_.push_back(memory_->bytes().subspan(i * piece_bytes, piece_bytes));
  writers_.reserve(writers);
  const auto write_all = [this] { waiting_.work_off([this](const Work& work) { write(work); }); };
  try {
    for (unsigned i = 0; i < writers; ++i) writers_.emplace_back(write_all);
  } catch (...) {
    // If no more threads can be started, one writes everything. If the exception were passed on, that thread would wait
    // forever.
    if (writers_.empty()) throw;
  }
}

WriteBehind::~WriteBehind() {
  waiting_.drop();
}

// Takes the piece that was used last, which a cache may still have.
std::span<std::byte> WriteBehind::take_piece() {
  free_pieces_.acquire();
  const std::lock_guard lock(mutex_);
  const std::span<std::byte> memory = free_.back();
  free_.pop_back();
  return memory;
}

void WriteBehind::give_back(std::span<std::byte> memory) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(memory);
  }
  free_pieces_.release();
}

void WriteBehind::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void WriteBehind::add(const Make& make, Write write) {
  const std::span<std::byte> memory = take_piece();
  try {
    rethrow_failure();
    waiting_.push({memory, make(memory), std::move(write)});
  } catch (...) {
    give_back(memory);
    throw;
  }
}

void WriteBehind::add(std::span<const std::byte> made, Write write) {
  try {
    rethrow_failure();
  } catch (...) {
    waiting_.wait_until_done();
    throw;
  }
  waiting_.push({{}, made, std::move(write)});
}

void WriteBehind::write(const Work& work) noexcept {
  try {
    rethrow_failure();
    work.write(work.made);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  // Releases the piece only after the failure is set, so that an add() that waits for the piece finds the failure.
  if (!work.memory.empty()) give_back(work.memory);
}

void WriteBehind::finish() {
  waiting_.wait_until_done();
  rethrow_failure();
}

}  // namespace bloomgate
