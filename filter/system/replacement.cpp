#include "filter/system/replacement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {

BloomgateError replacement_error(const std::string& what, const std::string& path, int errno_value) {
  if (errno_value != EACCES && errno_value != EPERM && errno_value != EROFS) {
    return system_error(ErrorCode::cannot_write, what, path, errno_value);
  }
  return {ErrorCode::not_permitted,
          what + " " + path + ": " + std::generic_category().message(errno_value) + "; run this as root (sudo)",
          {.path = path}};
}

Replacement::Replacement(std::string path, std::string temporary, mode_t mode)
    : path_(std::move(path)), temporary_(std::move(temporary)) {
  if (struct stat status = {}; stat(path_.c_str(), &status) == 0) old_ = status;
  unlink(temporary_.c_str());
  file_.reset(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_.is_open()) fail("create a file beside", errno);
  try {
    keep_owner(mode);
  } catch (...) {
    unlink(temporary_.c_str());
    throw;
  }
}

Replacement::~Replacement() {
  if (is_ours_) unlink(temporary_.c_str());
}

void Replacement::fail(const std::string& what, int error) const {
  throw replacement_error(what, path_, error);
}

void Replacement::keep_owner(mode_t mode) {
  struct stat made = {};
  if (fstat(file_.get(), &made) != 0) fail("look at what takes the place of", errno);
  const bool is_owned = !old_ || (made.st_uid == old_->st_uid && made.st_gid == old_->st_gid);
  if (!is_owned && fchown(file_.get(), old_->st_uid, old_->st_gid) != 0) fail("keep the owner of", errno);
  if (fchmod(file_.get(), old_ ? old_->st_mode & 07777 : mode) != 0) fail("set the permissions of", errno);
}

void Replacement::write(std::string_view text) {
  if (const int error = write_at(file_.get(), std::as_bytes(std::span(text)), 0); error != 0) fail("write", error);
}

void Replacement::keep_time() {
  if (!old_) return;
  const std::array<timespec, 2> times = {old_->st_atim, old_->st_mtim};
  if (futimens(file_.get(), times.data()) != 0) fail("keep the time of", errno);
}

void Replacement::sync() {
  if (fsync(file_.get()) != 0) fail("sync what takes the place of", errno);
}

void Replacement::put_in_place() {
  sync();
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  release();
  sync_folder_or_throw(folder_of(path_));
}

void replace_file(const std::string& path, std::string_view text, mode_t mode) {
  const std::string name = std::filesystem::path(path).filename().string();
  Replacement file(path, folder_of(path) + "/." + name + ".new", mode);
  file.write(text);
  file.put_in_place();
}

}  // namespace bloomgate
