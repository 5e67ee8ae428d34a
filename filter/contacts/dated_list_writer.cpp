#include "filter/contacts/dated_list_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

// The list shows who writes to whom, so only the operator may read it.
constexpr mode_t kMode = 0640;
constexpr mode_t kFolderMode = 0750;

int link_to(int file, const std::string& temporary, const std::string& path) {
  if (!temporary.empty()) return link(temporary.c_str(), path.c_str());
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(file);
  return linkat(AT_FDCWD, by_descriptor.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
}

}  // namespace

std::string address_line(std::string_view key) {
  return key.starts_with('#') ? "<" + std::string(key) + ">" : std::string(key);
}

std::string pair_line(std::string_view contact, std::string_view user) {
  return address_line(contact) + " > " + address_line(user);
}

DatedListWriter::DatedListWriter(std::string folder, Day day) : folder_(std::move(folder)), day_(day) {
  if (mkdir(folder_.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    throw system_error(ErrorCode::cannot_write, "make the folder", folder_, errno);
  }
  file_.reset(open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (!file_.is_open() && (errno == EOPNOTSUPP || errno == EISDIR)) {
    path_ = folder_ + "/.harvest-XXXXXX";
    file_.reset(mkostemp(path_.data(), O_CLOEXEC));
    if (file_.is_open()) fchmod(file_.get(), kMode);
  }
  if (!file_.is_open()) {
    const int error = errno;
    path_.clear();
    throw system_error(ErrorCode::cannot_write, "create a list in the folder", folder_, error);
  }
  text_.emplace(file_.get(), "a list in " + folder_);
}

DatedListWriter::~DatedListWriter() {
  if (!path_.empty()) unlink(path_.c_str());
}

void DatedListWriter::write(std::string_view line) {
  text_->write(line);
  text_->write("\n");
}

std::string DatedListWriter::finish() {
  text_->finish();
  if (fsync(file_.get()) != 0) throw system_error(ErrorCode::cannot_write, "sync a list in", folder_, errno);
  std::string path;
  int number = 1;
  do {
    path = folder_ + "/" + format_day(day_) + (number == 1 ? "" : "." + std::to_string(number)) + ".txt.zst";
    ++number;
    errno = 0;
  } while (link_to(file_.get(), path_, path) != 0 && errno == EEXIST);
  if (errno != 0) throw system_error(ErrorCode::cannot_write, "give its name to", path, errno);
  if (const int error = sync_folder(folder_)) {
    throw system_error(ErrorCode::cannot_write, "sync the folder", folder_, error);
  }
  return path;
}

}  // namespace bloomgate
