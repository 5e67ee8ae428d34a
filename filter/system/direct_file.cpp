#include "filter/system/direct_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace bloomgate {
namespace {

bool is_aligned(const void* start, std::uint64_t offset) noexcept {
  return (reinterpret_cast<std::uintptr_t>(start) | offset) % DirectFile::kAlignment == 0;
}

// `call(done)` is a read or write of the rest after `done` bytes.
template <typename Call>
std::size_t repeat(std::size_t bytes, Call call) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = call(done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
    if (done % DirectFile::kAlignment != 0) break;  // the end of the file
  }
  return done;
}

}  // namespace

DirectFile::DirectFile(const std::string& path, int flags) noexcept
    : file_(open(path.c_str(), flags | O_DIRECT | O_CLOEXEC)) {}

std::size_t DirectFile::read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept {
  if (!is_open() || !is_aligned(bytes.data(), offset)) return 0;
  const std::size_t whole = bytes.size() / kAlignment * kAlignment;
  return repeat(whole, [&](std::size_t done) {
    return pread(file_.get(), bytes.data() + done, whole - done, static_cast<off_t>(offset + done));
  });
}

std::size_t DirectFile::write(std::span<const std::byte> bytes, std::uint64_t offset) const noexcept {
  if (!is_open() || !is_aligned(bytes.data(), offset)) return 0;
  const std::size_t whole = bytes.size() / kAlignment * kAlignment;
  return repeat(whole, [&](std::size_t done) {
    return pwrite(file_.get(), bytes.data() + done, whole - done, static_cast<off_t>(offset + done));
  });
}

}  // namespace bloomgate
