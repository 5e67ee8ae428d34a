#include "filter/ingest/reject_log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/output_check.hpp"

namespace bloomgate {
namespace {

// The start of a line, for a person.
std::string excerpt(std::string_view line) {
  constexpr std::size_t kMostBytes = 60;
  return '\'' + printable(line.substr(0, kMostBytes)) + (line.size() > kMostBytes ? "...'" : "'");
}

// Whether a text begins as a reject file does: "# NAME:LINE: REASON".
bool is_of_rejects(std::string_view text) {
  constexpr std::string_view kReason = "abcdefghijklmnopqrstuvwxyz0123456789-";
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t reason = line.find_last_not_of(kReason) + 1;
  const std::string_view place = line.substr(0, reason);
  if (!place.starts_with("# ") || !place.ends_with(": ") || reason == line.size()) return false;
  const std::string_view numbered = place.substr(0, place.size() - 2);
  const std::size_t colon = numbered.find_last_not_of("0123456789");
  return colon != std::string_view::npos && colon + 1 < numbered.size() && numbered[colon] == ':';
}

}  // namespace

void BlockReport::add_broad(std::string_view key, Breadth breadth, std::uint64_t line) {
  if (breadth == Breadth::usual) return;
  broad_counts.add(breadth);
  if (broad.size() < kShown) broad.push_back({line, breadth, std::string(key)});
}

void BlockReport::add_line_without_entry(const ListLine& line, std::uint64_t number, std::string_view text) {
  if (line.entry.kind() != EntryKind::rejected) {
    ++blank;
    return;
  }
  const std::uint64_t line_count = 1 + static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  if (line_count == 1) text = text.substr(0, kMaxInputBytes + 1);
  rejected.push_back({number, line.fault, std::string(text), line_count});
}

RejectLog::RejectLog(const std::string& path, std::vector<std::string> names,
                     std::function<void(std::string_view)> show)
    : path_(path), show_(std::move(show)) {
  for (std::string& name : names) inputs_.push_back({.name = std::move(name)});
  if (path_.empty()) return;
  require_own_text(path_, is_of_rejects, "rejected lines", choice_names().reject_file);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    const int error = errno;
    path_.clear();
    throw system_error(ErrorCode::cannot_write, "create", path, error);
  }
}

RejectLog::~RejectLog() {
  struct stat status = {};
  // Something that is not a regular file, such as /dev/null, is not removed.
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
    count_ += rejected.lines;
    std::uint64_t& of_kind = kinds_[rejected.fault.name];
    const bool is_shown = of_kind < kExamples && !quiet_;
    of_kind += rejected.lines;
    if (!is_shown && path_.empty()) continue;
    const std::string what = place_of(input, rejected.line) + std::string(rejected.fault.name);
    const std::string how_many = rejected.lines == 1 ? "" : " (" + format_count(rejected.lines) + " lines)";
    if (is_shown) show_(what + ": " + rejected.fault.text + how_many + ": " + excerpt(rejected.text));
    if (!path_.empty() && file_ && !(file_ << "# " << what << '\n' << rejected.text << '\n')) write_error_ = errno;
  }
  log_broad(input, report);
  excepted_ += report.excepted;
  lines_ += report.lines - report.blank;
  input.lines += report.lines;
  ++input.next_index;
}

std::string RejectLog::kinds() const {
  std::vector<std::pair<std::uint64_t, std::string_view>> sorted;
  for (const auto& [name, count] : kinds_) sorted.emplace_back(count, name);
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& each) { return each.first; });
  std::string text;
  for (const auto& [count, name] : sorted)
    text += (text.empty() ? "" : ", ") + format_count(count) + ' ' + std::string(name);
  return text;
}

void RejectLog::show_kinds() const {
  if (std::ranges::all_of(kinds_, [](const auto& kind) { return kind.second <= kExamples; })) return;
  show_("rejected: " + kinds() + (path_.empty() ? "" : "; the lines are in " + path_));
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
  count_ = lines_ = 0;
  kinds_.clear();
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
  if (!file_) throw system_error(ErrorCode::cannot_write, "write", path_, write_error_ != 0 ? write_error_ : errno);
  path_.clear();
}

}  // namespace bloomgate
