#include "filter/system/write_behind.hpp"

#include <utility>

namespace bloomgate {

WriteBehind::WriteBehind(std::size_t piece_bytes, unsigned pieces, unsigned writers) {
  if (pieces != 0) memory_.emplace(piece_bytes * pieces, "what waits to be written");
  for (unsigned i = 0; i < pieces; ++i) free_.push_back(memory_->bytes().subspan(i * piece_bytes, piece_bytes));
  writers_.reserve(writers);
  try {
    for (unsigned i = 0; i < writers; ++i) writers_.emplace_back([this] { write_until_closed(); });
  } catch (...) {
    // Where no more threads can be had, one writes all. An exception would leave it waiting for work.
    if (writers_.empty()) throw;
  }
}

WriteBehind::~WriteBehind() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  waiting_.clear();
  work_is_there_.notify_all();
}

void WriteBehind::give_back(std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  free_.push_back(memory);
  piece_is_free_.notify_all();
}

void WriteBehind::add(const Make& make, Write write) {
  std::unique_lock lock(mutex_);
  piece_is_free_.wait(lock, [this] { return failure_ || !free_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
  const std::span<std::byte> memory = free_.back();
  free_.pop_back();
  lock.unlock();
  std::span<const std::byte> made;
  try {
    made = make(memory);
  } catch (...) {
    give_back(memory);
    throw;
  }
  lock.lock();
  try {
    waiting_.push_back({memory, made, std::move(write)});
  } catch (...) {
    lock.unlock();
    give_back(memory);
    throw;
  }
  ++unfinished_;
  work_is_there_.notify_one();
}

void WriteBehind::add(std::span<const std::byte> made, Write write) {
  std::unique_lock lock(mutex_);
  if (failure_) {
    piece_is_free_.wait(lock, [this] { return unfinished_ == 0; });
    std::rethrow_exception(failure_);
  }
  waiting_.push_back({{}, made, std::move(write)});
  ++unfinished_;
  work_is_there_.notify_one();
}

void WriteBehind::write_until_closed() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_is_there_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    if (is_closed_) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    const bool is_in_vain = failure_ != nullptr;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (!is_in_vain) work.write(work.made);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    // Before the piece is free, so that whoever waits for it sees the failure.
    if (failure && !failure_) failure_ = failure;
    if (!work.memory.empty()) free_.push_back(work.memory);
    --unfinished_;
    piece_is_free_.notify_all();
  }
}

void WriteBehind::finish() {
  std::unique_lock lock(mutex_);
  piece_is_free_.wait(lock, [this] { return unfinished_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace bloomgate
