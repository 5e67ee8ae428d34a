#include "filter/ingest/compressed_writer.hpp"

#include <zstd.h>

#include <new>
#include <span>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kGatheredBytes = std::size_t{1} << 18;

}  // namespace

struct CompressedWriter::Compressor {
  struct Free {
    void operator()(ZSTD_CCtx* unused) const noexcept { ZSTD_freeCCtx(unused); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  std::string out = std::string(ZSTD_CStreamOutSize(), '\0');
};

CompressedWriter::CompressedWriter(int file, std::string name, bool is_compressed)
    : file_(file), name_(std::move(name)) {
  if (!is_compressed) return;
  compressor_ = std::make_unique<Compressor>();
  if (!compressor_->context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(compressor_->context.get(), ZSTD_c_checksumFlag, 1);
}

CompressedWriter::~CompressedWriter() = default;

void CompressedWriter::write_to_file(std::string_view bytes) {
  if (const int error = write_at(file_, std::as_bytes(std::span(bytes)), file_bytes_); error != 0) {
    throw system_error(ErrorCode::cannot_write, "write", name_, error);
  }
  file_bytes_ += bytes.size();
}

void CompressedWriter::flush(bool end) {
  if (!compressor_) {
    write_to_file(text_);
    text_.clear();
    return;
  }
  ZSTD_inBuffer in = {.src = text_.data(), .size = text_.size(), .pos = 0};
  std::size_t left = 0;
  do {
    ZSTD_outBuffer out = {.dst = compressor_->out.data(), .size = compressor_->out.size(), .pos = 0};
    left = ZSTD_compressStream2(compressor_->context.get(), &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) {
      throw BloomgateError(ErrorCode::library_failed, std::string("zstd: ") + ZSTD_getErrorName(left));
    }
    write_to_file(std::string_view(compressor_->out).substr(0, out.pos));
  } while (in.pos < in.size || (end && left != 0));
  text_.clear();
}

void CompressedWriter::write(std::string_view text) {
  text_.append(text);
  if (text_.size() >= kGatheredBytes) flush(false);
}

void CompressedWriter::finish() {
  flush(true);
}

}  // namespace bloomgate
