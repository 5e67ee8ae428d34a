// A filter file, mapped read-only into memory. Opened by the daemon (once a load) and by `bloomgate query`, `info` and
// `verify`.
//
// Opening costs a few system calls whatever the file's size; verify_body() reads all of it. Once made, an object is
// immutable, and its view may be used in any number of threads; it must outlive every use of the view.
//
// A file that shrinks or goes bad under the mapping: see bus_fault.hpp. With the handler installed, look-ups in the
// missing part find nothing, and damaged() turns true and stays so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "filter/file/file_format.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

class MappedFilter {
 public:
  // Opens and maps `path`, with every check but that of the body's checksums: a regular file, magic, version, header
  // checksum, every field, exact size, table checksum. Never blocks on a FIFO. Throws BloomgateError.
  explicit MappedFilter(const std::string& path);
  ~MappedFilter();
  MappedFilter(const MappedFilter&) = delete;
  MappedFilter& operator=(const MappedFilter&) = delete;

  const std::string& path() const noexcept { return path_; }
  const FilterHeader& header() const noexcept { return header_; }
  const FilterView& view() const noexcept { return view_; }

  // Checks the body against the checksum table with `threads` threads (0: one for each processor), which also brings it
  // into memory. Throws BloomgateError{bad_body_checksum} with the offset of the first damaged MiB, or
  // changed_while_open. `progress`, if given, is called now and then with the bytes done, from one thread at a time.
  void verify_body(unsigned threads = 0, const std::function<void(std::uint64_t)>& progress = {}) const;

  // Keeps the whole mapping in memory. Throws BloomgateError{out_of_memory} where RLIMIT_MEMLOCK is too small.
  void lock_in_memory() const;

  // Whether a look-up has met a part of the file that is no longer there or cannot be read. Never goes back to false.
  bool damaged() const noexcept;

 private:
  class Mapping;
  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  FilterHeader header_;
  FilterView view_;
};

}  // namespace bloomgate
