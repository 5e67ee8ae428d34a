// A small file that takes the place of another in one step: at its path there always is the old one or the whole new
// one, also if this process or the machine ends meanwhile. What a filter or store is written by: file/new_file.hpp. For
// one thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Why a file cannot be written: not_permitted where another user may do it, else cannot_write.
BloomgateError replacement_error(const std::string& what, const std::string& path, int errno_value);

class Replacement {
 public:
  // Makes the file `temporary`, in the folder of `path`; what a process that was killed has left there goes. It gets
  // the owner and permissions of the file at `path`, or `mode` if there is none. All of these throw
  // BloomgateError{cannot_write}, and {not_permitted} where another user may do it.
  Replacement(std::string path, std::string temporary, mode_t mode);
  // Removes it, unless it was put in place or released.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  int descriptor() const noexcept { return file_.get(); }
  const std::string& temporary() const noexcept { return temporary_; }

  // From its beginning on.
  void write(std::string_view text);
  // It is to have the time at which the old one was changed.
  void keep_time();
  // Has the disk know what is in it.
  void sync();
  void put_in_place();
  // It stays where it is.
  void release() noexcept { is_ours_ = false; }

 private:
  void keep_owner(mode_t mode);
  [[noreturn]] void fail(const std::string& what, int error) const;

  const std::string path_;
  const std::string temporary_;
  std::optional<struct stat> old_;
  FileDescriptor file_;
  bool is_ours_ = true;
};

// All of the above for a text. The file is made beside `path`, with a dot before its name and ".new" behind it.
void replace_file(const std::string& path, std::string_view text, mode_t mode);

}  // namespace bloomgate
