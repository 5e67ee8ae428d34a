#include "filter/ingest/blocks.hpp"

#include <algorithm>
#include <exception>
#include <system_error>

#include "filter/ingest/input.hpp"
#include "filter/system/available_memory.hpp"

namespace bloomgate {

Blocks::Blocks(const std::vector<std::string>& inputs, const std::atomic<bool>& stop, bool quotes, BlockOrder order,
               FileChanges changes)
    : order_(order) {
  for (const std::string& input : inputs)
    inputs_.push_back(std::make_unique<Input>(inputs_.size(), input, quotes, stop, changes));
  if (std::ranges::all_of(inputs_, [](const auto& input) { return input->is_regular(); })) {
    for (const auto& input : inputs_) total_bytes_ += input->file_bytes();
  }
}

Blocks::~Blocks() = default;

const std::string& Blocks::name(std::size_t input) const noexcept {
  return inputs_[input]->name();
}

bool Blocks::in_parts() const noexcept {
  return std::ranges::all_of(inputs_, [](const auto& input) { return input->in_parts(); });
}

void Blocks::take_share(unsigned part, unsigned parts) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& input : inputs_) {
    input->take_share(part, parts);
    bytes += input->share_bytes();
  }
  if (total_bytes_ != 0) total_bytes_ = bytes;
}

std::uint64_t Blocks::lines_before_share(std::size_t input) {
  const std::lock_guard lock(mutex_);
  return inputs_[input]->lines_before_share();
}

std::uint64_t Blocks::file_bytes(std::size_t input) const noexcept {
  return inputs_[input]->file_bytes();
}

// The first input that has a block, or null when all have ended. Waits while other workers read all that is left.
Input* Blocks::take_input(std::unique_lock<std::mutex>& lock) {
  while (!failed_) {
    // In this order: while a stream is being read, only its reader knows whether it has ended.
    while (first_ < inputs_.size() && !inputs_[first_]->busy() && inputs_[first_]->ended()) ++first_;
    const std::size_t end = order_ == BlockOrder::any ? inputs_.size() : std::min(first_ + 1, inputs_.size());
    for (std::size_t i = first_; i < end; ++i) {
      if (!inputs_[i]->busy() && !inputs_[i]->ended()) return inputs_[i].get();
    }
    if (first_ == inputs_.size()) return nullptr;
    released_.wait(lock);
  }
  return nullptr;
}

void Blocks::sample(std::size_t input, std::uint64_t offset, std::uint64_t bytes, Block& block) {
  inputs_[input]->sample(offset, bytes, block);
}

// Only if no worker would have to wait for another worker's stream; the reading threads could not do that in order.
void Blocks::start_reading_ahead() {
  constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{64} << 20;
  if (!in_parts() || total_bytes_ < kWorthwhileBytes) return;
  std::uint64_t cold_bytes = 0;
  for (const auto& input : inputs_) cold_bytes += input->is_cold() ? input->file_bytes() : 0;
  if (cold_bytes < total_bytes_ / 2) return;
  // A file that stays in the cache is fast to read again. One that does not fit costs time, and displaces other pages.
  if (total_bytes_ > available_memory() / 2) {
    for (const auto& input : inputs_) input->read_past_cache();
  }
  try {
    ahead_ = std::make_unique<ReadAhead>([this](Block& block) { return claim(block); });
  } catch (const std::system_error&) {
    // The system starts no more threads, so the workers read by themselves.
  }
}

// Returns a function that reads the block, or nothing if there is none left.
std::function<void()> Blocks::claim(Block& block) {
  std::unique_lock lock(mutex_);
  Input* const input = take_input(lock);
  if (input == nullptr) return {};
  try {
    const std::uint64_t offset = input->claim(block);
    block.turn = next_turn_++;
    return [this, input, offset, &block] { read(*input, offset, block); };
  } catch (...) {
    failed_ = true;
    released_.notify_all();
    throw;
  }
}

void Blocks::read(Input& input, std::uint64_t offset, Block& block) {
  std::exception_ptr failure;
  try {
    done_bytes_ += input.read(offset, block);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    input.release();
    if (failure) failed_ = true;
  }
  released_.notify_all();
  if (failure) std::rethrow_exception(failure);
}

bool Blocks::next(Block& block) {
  std::call_once(started_, [this] { start_reading_ahead(); });
  if (ahead_) return ahead_->next(block);
  const std::function<void()> read_block = claim(block);
  if (!read_block) return false;
  read_block();
  return true;
}

}  // namespace bloomgate
