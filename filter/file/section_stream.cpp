#include "filter/file/section_stream.hpp"

#include "filter/base/little_endian.hpp"

namespace bloomgate {

SectionStream::SectionStream(NewFile& file, SectionKind kind) : file_(file), kind_(kind) {
  buffer_.reserve(kChecksumChunkBytes);
}

void SectionStream::add(std::span<const KeyHash> hashes) {
  for (const KeyHash hash : hashes) {
    if (count_ != 0 && hash == last_) continue;
    last_ = hash;
    ++count_;
    const std::size_t at = buffer_.size();
    buffer_.resize(at + sizeof(KeyHash));
    store_little_endian(buffer_.data() + at, hash);
    if (buffer_.size() == kChecksumChunkBytes) write();
  }
}

std::uint64_t SectionStream::finish() {
  if (!buffer_.empty()) write();
  return count_;
}

void SectionStream::write() {
  file_.write(kind_, written_bytes_, buffer_);
  written_bytes_ += buffer_.size();
  buffer_.clear();
}

}  // namespace bloomgate
