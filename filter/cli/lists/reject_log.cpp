#include "filter/cli/lists/reject_log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"

namespace bloomgate::cli {

void BlockReport::add_broad(const Entry& entry, Breadth breadth, std::uint64_t line) {
  if (breadth == Breadth::usual) return;
  broad_counts.add(breadth);
  if (broad.size() < kShown) broad.push_back({line, breadth, std::string(entry.key())});
}

RejectLog::RejectLog(const std::string& path, std::vector<std::string> names,
                     std::function<void(std::string_view)> show)
    : path_(path), show_(std::move(show)) {
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
  struct stat status = {};
  // Of what was there before, such as /dev/null, nothing is removed.
  if (!path_.empty() && stat(path_.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path_.c_str());
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
    const std::string reason(rejected.fault.name);
    ++count_;
    const bool is_shown = !quiet_ && count_ <= BlockReport::kShown;
    const std::string place = is_shown || !path_.empty() ? place_of(input, rejected.line) : std::string();
    if (is_shown) {
      show_(place + reason + ": " + std::string(rejected.fault.text));
    } else if (!quiet_ && count_ == BlockReport::kShown + 1) {
      show_("further rejected lines are " + (path_.empty() ? "only counted; --reject-file keeps them" : "in " + path_));
    }
    if (!path_.empty()) {
      file_ << "# " << place << reason << '\n' << rejected.text << '\n';
    }
  }
  log_broad(input, report);
  excepted_ += report.excepted;
  input.lines += report.lines;
  ++input.next_index;
}

std::string RejectLog::place_of(InputState& input, std::uint64_t line_of_block) {
  if (!input.lines_before) {
    const auto index = static_cast<std::size_t>(&input - inputs_.data());
    input.lines_before = lines_before_ ? lines_before_(index) : 0;
  }
  return input.name + ':' + std::to_string(*input.lines_before + input.lines + line_of_block) + ": ";
}

void RejectLog::log_broad(InputState& input, const BlockReport& report) {
  std::uint64_t before = broad_counts_.sum();
  broad_counts_ += report.broad_counts;
  if (quiet_ || before > BlockReport::kShown) return;
  for (const BroadEntry& entry : report.broad) {
    if (++before > BlockReport::kShown) break;
    show_(place_of(input, entry.line) + "warning: " + breadth_text(entry.breadth, entry.key));
  }
  if (broad_counts_.sum() > BlockReport::kShown) show_("further warnings of that kind are only counted");
}

void RejectLog::restart() {
  for (InputState& input : inputs_) input = {.name = input.name};
  count_ = 0;
  broad_counts_ = {};
  excepted_ = 0;
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
