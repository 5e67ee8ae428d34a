#include "filter/mpi/shared_section.hpp"

#include <array>
#include <vector>

namespace bloomgate::mpi {
namespace {

// What a rank sends to rank 0.
enum class Word : std::uint64_t {
  chunk,   // its number and its bytes, which follow
  done,    // the number of the first chunk that the rank has written itself, and how many: their checksums follow
  failed,  // the exit status
};

struct Message {
  Word word = Word::chunk;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

void send(const Communicator& communicator, const Message& message) {
  communicator.send(0, std::as_bytes(std::span(&message, 1)));
}

}  // namespace

SharedSection::SharedSection(const Communicator& communicator, NewFile* file, SectionKind kind, std::uint64_t offset,
                             ChunkRange own, bool only_first_writes)
    : communicator_(communicator), file_(file), kind_(kind) {
  if (only_first_writes || communicator.ranks() == 1) return;
  const std::string path = communicator.of_first(file == nullptr ? "" : file->temporary_path());
  const std::uint64_t mark = communicator.of_first(file == nullptr ? 0 : file->mark());
  if (file != nullptr || own.count == 0) return;
  part_.emplace(path, mark, offset, own.first, own.count);
  if (!part_->is_open()) part_.reset();
}

void SharedSection::write(std::uint64_t chunk, std::span<const std::byte> bytes) {
  if (file_ != nullptr) return file_->write(kind_, chunk * kChecksumChunkBytes, bytes);
  if (part_) return part_->write(chunk, bytes);
  const std::lock_guard lock(mutex_);
  send(communicator_, {Word::chunk, chunk, bytes.size()});
  communicator_.send(0, bytes);
}

void SharedSection::finish(unsigned threads) {
  if (file_ == nullptr) {
    const std::uint64_t first = part_ ? part_->first_chunk() : 0;
    const std::vector<std::uint64_t> checksums = part_ ? part_->finish(threads) : std::vector<std::uint64_t>();
    send(communicator_, {Word::done, first, checksums.size()});
    if (!checksums.empty()) communicator_.send(0, std::as_bytes(std::span(checksums)));
    return;
  }
  for (unsigned rank = 1; rank < communicator_.ranks(); ++rank) take_from(rank);
}

void SharedSection::take_from(unsigned rank) {
  Message message;
  const auto next = [&] {
    communicator_.receive(rank, std::as_writable_bytes(std::span(&message, 1)));
    if (message.word == Word::failed) throw RankFailure{static_cast<int>(message.count)};
    return message.word == Word::chunk;
  };
  std::vector<std::byte> bytes;
  bool has_sent = false;
  for (; next(); has_sent = true) {
    bytes.resize(message.count);
    communicator_.receive(rank, bytes);
    file_->write(kind_, message.first * kChecksumChunkBytes, bytes);
  }
  senders_ += has_sent ? 1 : 0;
  if (message.count == 0) return;
  std::vector<std::uint64_t> checksums(message.count);
  communicator_.receive(rank, std::as_writable_bytes(std::span(checksums)));
  file_->note_made(kind_, message.first, checksums);
}

void SharedSection::fail(int status) const {
  send(communicator_, {Word::failed, 0, static_cast<std::uint64_t>(status)});
  try {
    // Rank 0 ends the job when it has removed its files, and never sends anything.
    std::array<std::byte, 1> never;
    communicator_.receive(0, never);
  } catch (...) {
  }
  communicator_.abort(status);
}

}  // namespace bloomgate::mpi
