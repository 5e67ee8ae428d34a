#include "filter/file/file_part.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/new_file.hpp"
#include "filter/file/sections.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

// The result is not open if the file cannot be the marked one.
FileDescriptor open_marked(const std::string& path, std::uint64_t mark) noexcept {
  FileDescriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  std::array<std::byte, sizeof mark> found = {};
  const bool is_it = file.is_open() && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     read_at(file.get(), found, 0) == 0 && load_little_endian<std::uint64_t>(found.data()) == mark;
  if (!is_it) file.reset();
  return file;
}

}  // namespace

FilePart::FilePart(const std::string& temporary_path, std::uint64_t mark, std::uint64_t section_offset,
                   std::uint64_t first_chunk, std::uint64_t chunk_count)
    : path_(temporary_path),
      section_offset_(section_offset),
      first_chunk_(first_chunk),
      chunks_(chunk_count),
      file_(open_marked(temporary_path, mark)) {
  if (file_.is_open()) direct_ = DirectFile(path_, O_RDWR);
}

std::uint64_t FilePart::place_of(std::uint64_t chunk) const noexcept {
  return section_offset_ + chunk * kChecksumChunkBytes;
}

void FilePart::write(std::uint64_t chunk, std::span<const std::byte> bytes) {
  const std::uint64_t place = place_of(chunk);
  const std::size_t written = direct_.write(bytes, place);
  if (const int error = write_at(file_.get(), bytes.subspan(written), place + written); error != 0) {
    throw system_error(ErrorCode::cannot_write, "write", path_, error);
  }
  chunks_.at(chunk - first_chunk_) = {checksum(bytes), bytes.size()};
}

void FilePart::read_back(std::uint64_t chunk, std::span<std::byte> memory) const {
  const Chunk& noted = chunks_[chunk - first_chunk_];
  const std::uint64_t place = place_of(chunk);
  const auto bytes = memory.first(noted.bytes);
  const std::size_t read = direct_.read(bytes, place);
  if (const int error = read_at(file_.get(), bytes.subspan(read), place + read); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read back", path_, error);
  }
  if (checksum(bytes) != noted.checksum) throw_not_as_written(path_, place);
}

std::vector<std::uint64_t> FilePart::finish(unsigned threads) {
  if (fsync(file_.get()) != 0) throw system_error(ErrorCode::cannot_write, "sync", path_, errno);
  std::atomic<std::uint64_t> next{0};
  run_parallel(threads, [&](unsigned) {
    const AnonymousMemory memory(kChecksumChunkBytes, "reading back what was written");
    for (std::uint64_t i; (i = next.fetch_add(1)) < chunks_.size();) read_back(first_chunk_ + i, memory.bytes());
  });
  direct_ = {};
  file_.reset();
  std::vector<std::uint64_t> checksums;
  for (const Chunk& chunk : chunks_) checksums.push_back(chunk.checksum);
  return checksums;
}

}  // namespace bloomgate
