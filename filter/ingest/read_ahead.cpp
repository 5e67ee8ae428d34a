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
  for (Slot& slot : slots_) free_.push(&slot);
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

void ReadAhead::end() noexcept {
  free_.drop();
  in_order_.close();
}

// Reads the next block; not valid at the end.
std::packaged_task<void()> ReadAhead::claim_slot() {
  const std::lock_guard lock(claiming_);
  const std::optional<Slot*> free = free_.take();
  if (!free) return {};
  Slot& slot = **free;
  std::function<void()> read;
  try {
    read = claim_(slot.block);
  } catch (...) {
    free_.drop();
    read = [failure = std::current_exception()] { std::rethrow_exception(failure); };
  }
  if (!read) {
    end();
    return {};
  }
  std::packaged_task<void()> task([this, read = std::move(read)] {
    try {
      read();
    } catch (...) {
      end();
      throw;
    }
  });
  slot.is_read = task.get_future();
  in_order_.push(&slot);
  return task;
}

void ReadAhead::read_blocks() {
  for (auto read = claim_slot(); read.valid(); read = claim_slot()) read();
}

bool ReadAhead::next(Block& block) {
  const std::optional<Slot*> slot = in_order_.take();
  if (!slot) return false;
  try {
    (*slot)->is_read.get();
  } catch (...) {
    in_order_.drop();
    throw;
  }
  std::swap((*slot)->block, block);
  free_.push(*slot);
  return true;
}

}  // namespace bloomgate
