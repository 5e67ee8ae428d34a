#include "filter/ingest/read_ahead.hpp"

#include <utility>

namespace bloomgate {
namespace {

// Enough requests at a time to keep a disk busy, and enough blocks for the workers while one of them is late. All
// blocks together are small enough for a cache that the processors share.
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

std::optional<ReadAhead::Claimed> ReadAhead::claim_slot() {
  const std::lock_guard lock(claiming_);
  const std::optional<Slot*> free = free_.take();
  if (!free) return std::nullopt;
  Claimed claimed{.slot = *free, .read = {}, .is_read = {}};
  try {
    claimed.read = claim_(claimed.slot->block);
    if (!claimed.read) {
      end();
      return std::nullopt;
    }
  } catch (...) {
    claimed.slot->failure = std::current_exception();
    free_.drop();
  }
  claimed.slot->is_read = claimed.is_read.get_future();
  in_order_.push(claimed.slot);
  return claimed;
}

void ReadAhead::read_blocks() {
  while (std::optional<Claimed> claimed = claim_slot()) {
    if (claimed->read) {
      try {
        claimed->read();
      } catch (...) {
        claimed->slot->failure = std::current_exception();
        end();
      }
    }
    // From here on the slot, and the exception in it, belong to another thread; this thread must not use them any more.
    claimed->is_read.set_value();
  }
}

bool ReadAhead::next(Block& block) {
  const std::optional<Slot*> slot = in_order_.take();
  if (!slot) return false;
  (*slot)->is_read.get();
  if (const std::exception_ptr failure = std::exchange((*slot)->failure, nullptr)) {
    in_order_.drop();
    std::rethrow_exception(failure);
  }
  std::swap((*slot)->block, block);
  free_.push(*slot);
  return true;
}

}  // namespace bloomgate
