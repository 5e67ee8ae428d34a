// A small file that replaces another in one step: at its path there always is the old one or the whole new one, also if
// this process or the machine stops meanwhile. For filters and stores, see file/new_file.hpp. For one thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Why a file cannot be written: not_permitted if another user may do it, otherwise cannot_write.
BloomgateError replacement_error(const std::string& what, const std::string& path, int errno_value);

class Replacement {
 public:
  // Makes the file `temporary`, in the folder of `path`; removes a file that a killed process has left there. It gets
  // the owner and permissions of the file at `path`, or `mode` if there is none. All of these functions throw
  // BloomgateError{cannot_write}, and {not_permitted} if another user may do it.
  Replacement(std::string path, std::string temporary, mode_t mode);
  // Removes the temporary file, unless it was put in place or released.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  int descriptor() const noexcept { return file_.get(); }
  const std::string& temporary() const noexcept { return temporary_; }

  // Writes from the beginning on.
  void write(std::string_view text);
  // Gives it the modification time of the old file.
  void keep_time();
  // Syncs its content to disk.
  void sync();
  void put_in_place();
  // The temporary file stays where it is.
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

// All of the above for a text. The temporary file is beside `path`; its name has a dot in front and ".new" at its end.
void replace_file(const std::string& path, std::string_view text, mode_t mode);

}  // namespace bloomgate
