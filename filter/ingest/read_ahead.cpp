#include "filter/ingest/read_ahead.hpp"

#include <utility>

namespace bloomgate {
namespace {

// Enough requests at a time for a disk to be busy, and blocks for the workers while one of them is late. All blocks
// together stay small enough for a cache that the processors share.
constexpr std::size_t kReaders = 4;
constexpr std::size_t kSlots = 32;

}  // namespace

ReadAhead::ReadAhead(Claim claim) : claim_(std::move(claim)), slots_(kSlots) {
  readers_.reserve(kReaders);
  try {
    for (std::size_t i = 0; i < kReaders; ++i) readers_.emplace_back([this] { read_blocks(); });
  } catch (...) {
    end();
    throw;
  }
}

ReadAhead::~ReadAhead() {
  end();
}

void ReadAhead::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  room_.notify_all();
  readers_.clear();
}

void ReadAhead::read_blocks() {
  std::unique_lock lock(mutex_);
  while (true) {
    room_.wait(lock, [this] { return ended_ || claimed_ - handed_out_ < slots_.size(); });
    if (ended_) return;
    Slot& slot = this->slot(claimed_);
    try {
      const std::function<void()> read = claim_(slot.block);
      if (!read) {
        ended_ = true;
        break;
      }
      ++claimed_;
      lock.unlock();
      read();
      lock.lock();
    } catch (...) {
      if (lock.owns_lock()) {
        ++claimed_;
      } else {
        lock.lock();
      }
      slot.failure = std::current_exception();
      ended_ = true;
    }
    slot.is_ready = true;
    ready_.notify_all();
  }
  ready_.notify_all();
  room_.notify_all();
}

bool ReadAhead::next(Block& block) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] {
    return (handed_out_ < claimed_ && slot(handed_out_).is_ready) || (ended_ && handed_out_ == claimed_);
  });
  if (handed_out_ == claimed_) return false;
  Slot& slot = this->slot(handed_out_);
  if (slot.failure) {
    handed_out_ = claimed_;
    ready_.notify_all();
    std::rethrow_exception(slot.failure);
  }
  ++handed_out_;
  std::swap(slot.block, block);
  slot.is_ready = false;
  lock.unlock();
  room_.notify_one();
  return true;
}

}  // namespace bloomgate
