// Writes text into a file from its beginning, compressed by zstd or as it is. For one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bloomgate {

class CompressedWriter {
 public:
  // The caller owns the file, which must be empty; `name` is for messages.
  CompressedWriter(int file, std::string name, bool is_compressed = true);
  ~CompressedWriter();
  CompressedWriter(const CompressedWriter&) = delete;
  CompressedWriter& operator=(const CompressedWriter&) = delete;

  // Both throw BloomgateError{cannot_write, library_failed}.
  void write(std::string_view text);
  // Writes the rest into the file, but does not sync it to disk. Only once, at the end.
  void finish();

 private:
  struct Compressor;

  void write_to_file(std::string_view bytes);
  void flush(bool end);

  int file_;
  std::string name_;
  std::uint64_t file_bytes_ = 0;
  std::string text_;
  std::unique_ptr<Compressor> compressor_;  // null: the text is written as it is
};

}  // namespace bloomgate
