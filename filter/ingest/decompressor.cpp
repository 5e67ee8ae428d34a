#include "filter/ingest/decompressor.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <boost/iostreams/read.hpp>
#include <memory>
#include <new>
#include <vector>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

namespace io = boost::iostreams;
using namespace std::string_view_literals;

constexpr int kLzmaMemoryLimitError = 6;  // LZMA_MEMLIMIT_ERROR, for which Boost has no name
constexpr std::streamsize kBufferBytes = std::streamsize{1} << 16;
// A header may have an endless name or comment, which the library would keep in memory.
constexpr std::uint64_t kMostBytesWithoutText = std::uint64_t{64} << 20;

struct Mark {
  Compression compression;
  std::string_view bytes;
};

// '?' stands for any one byte.
constexpr std::array kMarks = {
    Mark{Compression::gzip, "\x1f\x8b\x08"sv},
    Mark{Compression::zstd, "\x28\xb5\x2f\xfd"sv},
    Mark{Compression::zstd, "?\x2a\x4d\x18"sv},  // a skippable frame: its first byte is 0x50 to 0x5f
    Mark{Compression::xz, "\xfd\x37zXZ\x00"sv},
    Mark{Compression::bzip2, "BZh?\x31\x41\x59\x26\x53\x59"sv},
    Mark{Compression::bzip2, "BZh?\x17\x72\x45\x38\x50\x90"sv},
};

bool matches(std::string_view mark, std::string_view start) noexcept {
  return std::equal(start.begin(), start.end(), mark.begin(),
                    [](char got, char want) { return want == '?' || got == want; });
}

std::string_view name_of(Compression compression) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"plain", "gzip", "zstd", "xz", "bzip2"};
  return kNames[static_cast<std::size_t>(compression)];
}

// Boost has a filter for gzip, but it treats zeros after the end as damage. Archives on tape, and files that consist of
// whole blocks, have such zeros, and gzip(1) skips them.
class GzipFilter {
 public:
  using char_type = char;
  struct category : io::input_filter_tag, io::multichar_tag {};  // NOLINT(readability-identifier-naming): Boost's

  GzipFilter() {
    constexpr int kGzipOnly = 16;  // for inflateInit2(): added to the bits of the window
    if (inflateInit2(stream_.get(), MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }

  template <typename Source>
  std::streamsize read(Source& source, char* to, std::streamsize bytes) {
    z_stream& stream = *stream_;
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(bytes);
    while (stream.avail_out == static_cast<uInt>(bytes)) {
      if (stream.avail_in == 0 && drained_) {
        const std::streamsize count = io::read(source, buffer_.data(), kBufferBytes);
        if (count <= 0) {
          if (place_ == Place::in_member) throw std::ios_base::failure("it ends in the middle");
          return -1;
        }
        stream.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream.avail_in = static_cast<uInt>(count);
      }
      if (place_ != Place::in_member && !enter_member()) continue;
      const int result = inflate(&stream, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        throw std::ios_base::failure(stream.msg == nullptr ? "bad data" : stream.msg);
      }
      drained_ = stream.avail_out != 0;
      if (result != Z_STREAM_END) continue;
      place_ = Place::behind_member;
      drained_ = true;
      inflateReset(&stream);
    }
    return bytes - static_cast<std::streamsize>(stream.avail_out);
  }

 private:
  enum class Place : std::uint8_t { in_member, behind_member, in_zeros };

  // A member is followed by another one, or by zeros up to the end.
  bool enter_member() {
    z_stream& stream = *stream_;
    if (place_ == Place::behind_member && *stream.next_in != 0) {
      place_ = Place::in_member;
      return true;
    }
    place_ = Place::in_zeros;
    const Bytef* const end = stream.next_in + stream.avail_in;
    if (std::any_of(const_cast<const Bytef*>(stream.next_in), end, [](Bytef byte) { return byte != 0; })) {
      throw std::ios_base::failure("something stands behind its end");
    }
    stream.avail_in = 0;
    return false;
  }

  static void end(z_stream* stream) noexcept {
    inflateEnd(stream);
    delete stream;
  }

  // Shared, since a chain copies its filters.
  std::shared_ptr<z_stream> stream_{new z_stream(), end};
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
  Place place_ = Place::in_member;
  bool drained_ = true;  // the stream holds back no text
};

// Boost has a filter for zstd, but it accepts a file that was cut off as complete.
class ZstdFilter {
 public:
  using char_type = char;
  struct category : io::input_filter_tag, io::multichar_tag {};  // NOLINT(readability-identifier-naming): Boost's

  template <typename Source>
  std::streamsize read(Source& source, char* to, std::streamsize bytes) {
    ZSTD_outBuffer out = {to, static_cast<std::size_t>(bytes), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && (expected_ == 0 || drained_)) {
        const std::streamsize count = io::read(source, buffer_.data(), kBufferBytes);
        if (count <= 0) {
          if (expected_ != 0) throw std::ios_base::failure("it ends in the middle");
          return -1;
        }
        in_ = {buffer_.data(), static_cast<std::size_t>(count), 0};
      }
      expected_ = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(expected_) != 0) throw std::ios_base::failure(ZSTD_getErrorName(expected_));
      drained_ = out.pos < out.size;
    }
    return static_cast<std::streamsize>(out.pos);
  }

 private:
  // Shared, since a chain copies its filters.
  std::shared_ptr<ZSTD_DCtx> context_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
  ZSTD_inBuffer in_ = {};
  std::size_t expected_ = 0;  // 0 between frames
  bool drained_ = true;       // the context holds back no text
};

std::string advice_for(const std::ios_base::failure& error) {
  const auto* const lzma = dynamic_cast<const io::lzma_error*>(&error);
  if (lzma != nullptr && lzma->error() == kLzmaMemoryLimitError) {
    return "cannot be read with 100 MiB of memory; compress it with a smaller dictionary";
  }
  if (std::string_view(error.what()).find(ZSTD_getErrorString(ZSTD_error_frameParameter_windowTooLarge)) == 0) {
    return "cannot be read with a window of 128 MiB; compress it without --long or --ultra";
  }
  return "are damaged or cut off; get a complete copy";
}

}  // namespace

std::optional<Compression> recognise_compression(std::string_view start, bool ended) noexcept {
  bool may_become_one = false;
  for (const Mark& mark : kMarks) {
    const std::string_view compared = start.substr(0, mark.bytes.size());
    if (!matches(mark.bytes, compared)) continue;
    if (mark.bytes.front() == '?' && !start.empty() && (static_cast<unsigned char>(start.front()) >> 4) != 5) continue;
    if (compared.size() == mark.bytes.size()) return mark.compression;
    may_become_one = true;
  }
  if (may_become_one && !ended) return std::nullopt;
  return Compression::none;
}

class Decompressor::Chain {
 public:
  Chain(Compression compression, std::string name, Source source)
      : compression_(compression), name_(std::move(name)), source_(std::move(source)) {
    switch (compression) {
      case Compression::gzip:
        chain_.push(GzipFilter(), kBufferBytes);
        break;
      case Compression::zstd:
        chain_.push(ZstdFilter(), kBufferBytes);
        break;
      case Compression::xz:
        chain_.push(io::lzma_decompressor(kBufferBytes), kBufferBytes);
        break;
      case Compression::bzip2:
        chain_.push(io::bzip2_decompressor(false, kBufferBytes), kBufferBytes);
        break;
      case Compression::none:
        break;
    }
    chain_.push(Device{this}, kBufferBytes);
  }

  std::size_t read(char* to, std::size_t bytes) {
    bytes_without_text_ = 0;
    try {
      const std::streamsize count = chain_.sgetn(to, static_cast<std::streamsize>(bytes));
      text_bytes_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    } catch (const std::ios_base::failure& error) {
      throw BloomgateError(ErrorCode::bad_input,
                           "the " + std::string(name_of(compression_)) + " data of " + name_ + " " + advice_for(error) +
                               " (" + std::to_string(text_bytes_) + " bytes of text or more were read)",
                           {.path = name_});
    }
  }

 private:
  struct Device {
    using char_type = char;
    using category = io::source_tag;
    Chain* chain;
    std::streamsize read(char* to, std::streamsize bytes) { return chain->read_source(to, bytes); }
  };

  std::streamsize read_source(char* to, std::streamsize bytes) {
    const std::size_t count = source_(to, static_cast<std::size_t>(bytes));
    bytes_without_text_ += count;
    if (bytes_without_text_ > kMostBytesWithoutText) throw std::ios_base::failure("no text");
    return count == 0 ? -1 : static_cast<std::streamsize>(count);
  }

  Compression compression_;
  std::string name_;
  Source source_;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t bytes_without_text_ = 0;
  io::filtering_streambuf<io::input> chain_;
};

Decompressor::Decompressor(Compression compression, std::string name, Source source)
    : chain_(std::make_unique<Chain>(compression, std::move(name), std::move(source))) {}

Decompressor::~Decompressor() = default;

std::size_t Decompressor::read(char* to, std::size_t bytes) {
  return chain_->read(to, bytes);
}

}  // namespace bloomgate
