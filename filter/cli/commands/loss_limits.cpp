#include "filter/cli/commands/loss_limits.hpp"

#include <unistd.h>

#include "filter/base/number_text.hpp"
#include "filter/file/mapped_filter.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t kLinesForEachReject = 10;
constexpr std::uint64_t kShrinkTo = 2;  // one half

std::optional<std::uint64_t> entries_at(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  try {
    return entries_of(MappedFilter(path).header());
  } catch (const BloomgateError&) {
    return std::nullopt;  // Whatever it is, no list is lost with it.
  }
}

}  // namespace

void LossLimits::add_reading_to(po::options_description& options) {
  options.add_options()("allow-rejects", po::bool_switch(&allow_rejects),
                        "go on if more than a tenth of the lines is rejected");
}

void LossLimits::add_empty_to(po::options_description& options) {
  options.add_options()("allow-empty", po::bool_switch(&allow_empty), "go on if no entry would be left");
}

void LossLimits::add_shrink_to(po::options_description& options) {
  options.add_options()("allow-shrink", po::bool_switch(&allow_shrink),
                        "go on if less than half of the entries of the filter that is replaced are left");
}

std::vector<std::string> LossLimits::given() const {
  std::vector<std::string> options;
  if (allow_empty) options.emplace_back("--allow-empty");
  if (allow_rejects) options.emplace_back("--allow-rejects");
  if (allow_shrink) options.emplace_back("--allow-shrink");
  return options;
}

LinesRead LinesRead::of(const RejectLog& rejects, const Format& format) {
  return {.lines = rejects.lines(), .rejected = rejects.count(), .kinds = rejects.kinds(), .advice = format.advice()};
}

std::optional<BloomgateError> LossLimits::refusal_of(const LinesRead& read) const {
  if (allow_rejects || read.rejected <= read.lines / kLinesForEachReject) return std::nullopt;
  std::string what = format_count(read.rejected) + " of " + format_count(read.lines) + " lines were rejected";
  if (!read.kinds.empty()) what += " (" + read.kinds + ')';
  if (!read.advice.empty()) what += "; " + read.advice;
  return BloomgateError(ErrorCode::bad_input,
                        what + "; nothing was changed. --allow-rejects takes the others all the same");
}

std::optional<BloomgateError> LossLimits::refusal_of(std::uint64_t entries, const std::string& path) const {
  if (entries == 0) {
    if (allow_empty) return std::nullopt;
    return BloomgateError(
        ErrorCode::no_entries,
        "no entry would be in it, so no sender would be listed; nothing was changed. If that is meant, "
        "give --allow-empty");
  }
  if (allow_shrink) return std::nullopt;
  const std::optional<std::uint64_t> old = entries_at(path);
  if (!old || entries >= *old / kShrinkTo + *old % kShrinkTo) return std::nullopt;
  return BloomgateError(ErrorCode::bad_input,
                        path + " has " + format_count(*old) + " entries, and " + format_count(entries) +
                            " would be left; nothing was changed. If that is meant, give --allow-shrink",
                        {.path = path});
}

}  // namespace bloomgate::cli
