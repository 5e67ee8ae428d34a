#include "filter/cli/reject_log.hpp"

#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "filter/error.hpp"

namespace bloomgate::cli {

RejectLog::RejectLog(const std::string& path, std::vector<std::string> names) : path_(path) {
  for (std::string& name : names) inputs_.push_back({.name = std::move(name)});
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

void RejectLog::add(BlockReport report) {
  const std::lock_guard lock(mutex_);
  InputState& input = inputs_[report.input];
  if (report.index != input.next_index) {
    input.waiting.emplace(report.index, std::move(report));
    return;
  }
  log(input, report);
  for (auto next = input.waiting.begin(); next != input.waiting.end() && next->first == input.next_index;
       next = input.waiting.erase(next)) {
    log(input, next->second);
  }
}

void RejectLog::log(InputState& input, const BlockReport& report) {
  for (const RejectedLine& rejected : report.rejected) {
    const std::uint64_t line = input.lines + rejected.line;
    ++count_;
    if (!quiet_ && count_ <= kShown) {
      std::cerr << input.name << ':' << line << ": " << reject_reason_name(rejected.reason) << ": "
                << reject_reason_text(rejected.reason) << '\n';
    } else if (!quiet_ && count_ == kShown + 1) {
      std::cerr << "further rejected lines are "
                << (path_.empty() ? "only counted; --reject-file keeps them" : "in " + path_) << '\n';
    }
    if (!path_.empty()) {
      file_ << "# " << input.name << ':' << line << ": " << reject_reason_name(rejected.reason) << '\n'
            << rejected.text << '\n';
    }
  }
  input.lines += report.lines;
  ++input.next_index;
}

void RejectLog::restart() {
  for (InputState& input : inputs_) input = {.name = input.name};
  count_ = 0;
  quiet_ = true;
  if (path_.empty()) return;
  file_.close();
  file_.open(path_, std::ios::binary | std::ios::trunc);
}

void RejectLog::keep() {
  if (path_.empty()) return;
  file_.close();
  if (!file_) throw system_error(ErrorCode::cannot_write, "write", path_, errno);
  path_.clear();
}

}  // namespace bloomgate::cli
