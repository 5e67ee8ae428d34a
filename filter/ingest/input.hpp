// One list, opened and read. Any part of a plain regular file can be read at any time. A stream has to be read in
// order: a pipe, compressed text, text with quoted line ends, or text whose lines end with CR alone, which is replaced
// by LF. Blocks hands out its blocks and does the locking.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/ingest/block.hpp"
#include "filter/ingest/decompressor.hpp"
#include "filter/system/direct_file.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

// What may happen to a file while it is read.
enum class FileChanges : std::uint8_t {
  refused,
  appended,  // other programs may append to it: it is read up to its length at the opening
};

class Input {
 public:
  // Opens the list, so that a missing one shows before the work. Closes a regular file again until it is read, since
  // there may be more of them than a process may have open. Throws BloomgateError{cannot_open, cannot_read}, and
  // bad_argument for a folder.
  Input(std::size_t index, const std::string& path, bool quotes, const std::atomic<bool>& stop,
        FileChanges changes = FileChanges::refused);

  const std::string& name() const noexcept { return name_; }
  bool is_regular() const noexcept { return is_regular_; }
  bool in_parts() const noexcept { return in_parts_; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  // Whether it is a pipe, or standard input, that ended before its first byte. Only once all was read.
  bool sent_nothing() const noexcept {
    return is_sent_ && !is_of_other_share_ && (in_parts_ ? file_bytes_ : raw_bytes_) == 0;
  }
  std::uint64_t share_bytes() const noexcept {
    return in_parts_ ? share_end_ - share_begin_ : ended_ ? 0 : file_bytes_;
  }
  // Whether it is a large file that was mostly not in the page cache when it was opened, as far as the system reports.
  bool is_cold() const noexcept { return is_cold_; }

  // Restricts this list to part `part` of `parts`: for a list in parts, its share of the blocks; for streams, every
  // `parts`-th stream as a whole. Only before the first claim().
  void take_share(unsigned part, unsigned parts) noexcept;
  // How many lines start before that share. Reads all text before it. Throws as read() does.
  std::uint64_t lines_before_share();

  // Makes later reads of a cold list bypass the page cache, if its file system supports it. Only before the first
  // claim().
  void read_past_cache() noexcept { past_cache_ = is_cold_; }

  // Blocks calls these under its mutex: whether a block can be had now, to claim it, and to return the claim after
  // reading. claim() returns the block's offset.
  bool ended() const noexcept { return in_parts_ ? next_offset_ >= share_end_ : ended_; }
  bool busy() const noexcept { return !in_parts_ && readers_ != 0; }
  std::uint64_t claim(Block& block);
  void release() noexcept;

  // Reads what was claimed, without the mutex. Returns how many bytes of the file or pipe it took.
  std::uint64_t read(std::uint64_t offset, Block& block);

  // The lines of a list in parts that start in [offset, offset + bytes). Only between claims.
  void sample(std::uint64_t offset, std::uint64_t bytes, Block& block);

 private:
  void open_file();
  void close_file() noexcept;
  void check_stop() const;
  void require_unchanged() const;
  BloomgateError shrank_to(std::uint64_t bytes) const;
  BloomgateError open_quote(std::string_view text) const;
  void wait_for_stream() const;
  std::uint64_t read_part(std::uint64_t offset, std::uint64_t bytes, Block& block);
  std::uint64_t read_stream(Block& block);
  std::size_t find_last_line(std::string_view text) const noexcept;
  std::size_t read_at(char* to, std::size_t bytes, std::uint64_t offset) const;
  std::string_view read_range(std::uint64_t begin, std::uint64_t end, Block& block);
  std::size_t read_next(char* to, std::size_t bytes);
  std::size_t read_raw(char* to, std::size_t bytes);
  std::size_t read_text(char* to, std::size_t bytes);
  std::size_t read_decompressed(char* to, std::size_t bytes);

  const std::atomic<bool>& stop_;
  std::size_t index_;
  std::string path_;
  std::string name_;
  FileDescriptor file_;
  int fd_ = -1;
  DirectFile direct_;  // bypasses the page cache
  FileStamp stamp_;    // of a regular file, when it was opened first
  bool quotes_;
  FileChanges changes_;
  bool is_regular_ = false;
  bool is_sent_ = false;            // standard input, or a pipe
  bool is_of_other_share_ = false;  // a stream that another process reads
  bool in_parts_ = false;
  bool is_cold_ = false;
  bool past_cache_ = false;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t share_begin_ = 0;
  std::uint64_t share_end_ = 0;  // of a list in parts
  std::uint64_t next_offset_ = 0;
  std::uint64_t next_index_ = 0;
  unsigned readers_ = 0;

  // Of a stream:
  bool ended_ = false;
  std::optional<Compression> compression_;  // once its first bytes are there
  std::string start_;                       // those bytes, until they are read as text
  std::unique_ptr<Decompressor> decompressor_;
  std::optional<bool> ends_with_cr_;  // whether its lines end with CR alone; known once its first text is there
  std::uint64_t raw_bytes_ = 0;
  std::string started_;       // the start of a line whose end is in the next block
  bool skip_to_end_ = false;  // the rest of a line that was cut
  bool in_quotes_ = false;    // where that rest starts
};

}  // namespace bloomgate
