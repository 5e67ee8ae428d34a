// Reads the text of a compressed list from its beginning to its end, however many members, frames or streams it has.
// Used by Input; an object is for one thread at a time.
//
// libarchive, which reads all four kinds, has three faults (tested: 3.6.2). It does not compare a gzip file's CRC-32.
// If a second gzip or bzip2 member is cut off in its header, it treats that as the end of the file. It sets no limit to
// the memory that an xz file asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

enum class Compression : std::uint8_t { none, gzip, zstd, xz, bzip2 };

// A file's content decides, never its name: its first kCompressionMarkBytes, or all of it if `ended` says that no more
// follow. Nothing if more bytes are needed to decide. Sources: RFC 1952 section 2.3.1, RFC 8878 section 3.1, the xz
// file format 1.1 section 2.1.1.1, and for bzip2 its signature with the mark of a first block or of the end.
inline constexpr std::size_t kCompressionMarkBytes = 10;
std::optional<Compression> recognise_compression(std::string_view start, bool ended) noexcept;

class Decompressor {
 public:
  // Puts up to `bytes` compressed bytes at `to` and returns their number: 0 at the end. If it throws, read() passes the
  // exception on.
  using Source = std::function<std::size_t(char* to, std::size_t bytes)>;

  // `compression` is not none; `name` is the list's, for messages.
  Decompressor(Compression compression, std::string name, Source source);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Returns the number of bytes put at `to`: as many as were asked for, fewer where the text ends, then 0. Its memory
  // is bounded for every input (zstd: windows up to 128 MiB; xz: 100 MiB in all). Throws BloomgateError{bad_input} if
  // the input is cut off or damaged.
  std::size_t read(char* to, std::size_t bytes);

 private:
  class Chain;
  std::unique_ptr<Chain> chain_;
};

}  // namespace bloomgate
