#include "filter/cli/reject_log.hpp"

#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "filter/error.hpp"

namespace bloomgate::cli {

RejectLog::RejectLog(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    const int error = errno;
    path_.clear();
    throw system_error(ErrorCode::cannot_write, "create", path, error);
  }
}

RejectLog::~RejectLog() {
  if (!path_.empty()) unlink(path_.c_str());
}

void RejectLog::add(const InputLine& line, RejectReason reason) {
  ++count_;
  if (count_ <= kShown) {
    std::cerr << line.file << ':' << line.number << ": " << reject_reason_name(reason) << ": "
              << reject_reason_text(reason) << '\n';
  } else if (count_ == kShown + 1) {
    std::cerr << "further rejected lines are "
              << (path_.empty() ? "only counted; --reject-file keeps them" : "in " + path_) << '\n';
  }
  if (!path_.empty()) {
    file_ << "# " << line.file << ':' << line.number << ": " << reject_reason_name(reason) << '\n' << line.text << '\n';
  }
}

void RejectLog::keep() {
  if (path_.empty()) return;
  file_.close();
  if (!file_) throw system_error(ErrorCode::cannot_write, "write", path_, errno);
  path_.clear();
}

}  // namespace bloomgate::cli
