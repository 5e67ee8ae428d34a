#include "filter/jobs/loss_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "filter/base/number_text.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kLinesForEachReject = 10;
constexpr std::uint64_t kShrinkTo = 2;          // one half
constexpr std::uint64_t kDaemonShrinksTo = 10;  // one tenth

std::optional<FilterHeader> header_at(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  try {
    return MappedFilter(path).header();
  } catch (const BloomgateError&) {
    return std::nullopt;  // whatever it is, it has no entries to lose
  }
}

std::optional<std::uint64_t> entries_at(const std::string& path) {
  const std::optional<FilterHeader> header = header_at(path);
  return header ? std::optional(entries_of(*header)) : std::nullopt;
}

struct Amount {
  std::uint64_t count = 0;
  bool is_estimate = false;  // without duplicates, estimated from the fill
};

// Lists often name an entry several times, and most layouts count it each time. If the fill does not show that clearly,
// the number in the header is used.
Amount distinct_of(const FilterHeader& header) {
  constexpr double kClearly = 0.9;
  const std::uint64_t entries = entries_of(header);
  const double distinct = distinct_entries_of(header);
  if (!std::isfinite(distinct) || distinct > kClearly * static_cast<double>(entries)) return {entries};
  return {static_cast<std::uint64_t>(std::llround(distinct)), true};
}

bool is_less_than_half(std::uint64_t entries, std::uint64_t old) noexcept {
  return entries < old / kShrinkTo + old % kShrinkTo;
}

std::string nothing_changed(const LossLimits::Limit& limit) {
  return "; nothing was changed" + (limit.advice.empty() ? "" : ". " + limit.advice);
}

}  // namespace

LinesRead LinesRead::of(const RejectLog& rejects, const Format& format) {
  return {.lines = rejects.lines(), .rejected = rejects.count(), .kinds = rejects.kinds(), .advice = format.advice()};
}

std::string too_many_rejects(const LinesRead& read) {
  if (read.rejected <= read.lines / kLinesForEachReject) return {};
  std::string what = format_count(read.rejected) + " of " + format_counted(read.lines, "line", "lines") + read.lists +
                     std::string(word_for(read.rejected, " was rejected", " were rejected"));
  if (!read.kinds.empty()) what += " (" + read.kinds + ')';
  what += ", more than a tenth";
  return read.advice.empty() ? what : what + "; " + read.advice;
}

std::optional<BloomgateError> LossLimits::refusal_of(const LinesRead& read) const {
  const std::string why = too_many_rejects(read);
  if (rejects.is_lifted || why.empty()) return std::nullopt;
  return BloomgateError(ErrorCode::bad_input, why + nothing_changed(rejects));
}

std::optional<BloomgateError> LossLimits::refusal_of(std::uint64_t entries, const std::string& path) const {
  if (entries == 0) {
    if (empty.is_lifted) return std::nullopt;
    return BloomgateError(ErrorCode::no_entries,
                          "no entry would be in it, so no sender would be listed" + nothing_changed(empty));
  }
  return refusal_to_leave(format_count(entries), entries, path);
}

std::optional<BloomgateError> LossLimits::refusal_of(const FilterHeader& made, const std::string& path) const {
  if (entries_of(made) == 0) return refusal_of(0, path);
  const auto [left, is_estimate] = distinct_of(made);
  return refusal_to_leave((is_estimate ? "about " : "") + format_count(left) + (is_estimate ? " distinct ones" : ""),
                          left, path);
}

std::optional<BloomgateError> LossLimits::refusal_to_leave(const std::string& text, std::uint64_t left,
                                                           const std::string& path) const {
  if (shrink.is_lifted) return std::nullopt;
  const std::optional<FilterHeader> header = header_at(path);
  if (!header) return std::nullopt;
  const auto [old, is_estimate] = distinct_of(*header);
  if (!is_less_than_half(left, old)) return std::nullopt;
  const std::string had = is_estimate ? "about " + format_counted(old, "distinct entry", "distinct entries")
                                      : format_counted(old, "entry", "entries");
  return BloomgateError(ErrorCode::bad_input,
                        path + " has " + had + ", and " + text +
                            " would be left; to keep the old ones, name their lists, too" + nothing_changed(shrink),
                        {.path = path});
}

std::string LossLimits::warning_of_daemon(std::uint64_t entries, const std::string& path) const {
  if (!shrink.is_lifted) return {};
  const std::optional<std::uint64_t> old = entries_at(path);
  if (!old || entries >= *old / kDaemonShrinksTo + (*old % kDaemonShrinksTo == 0 ? 0 : 1)) return {};
  return "warning: " + path + " had " + format_counted(*old, "entry", "entries") + ", and has " +
         format_count(entries) +
         " now, less than a tenth: a daemon that uses it keeps the old ones until bloomgate-milter.conf has "
         "allow-shrunken-whitelist = yes";
}

void LossLimits::require(const FilterHeader& made, const std::string& path) const {
  if (auto refusal = refusal_of(made, path)) throw BloomgateError(std::move(*refusal));
}

void LossLimits::require(std::uint64_t entries, const std::string& path) const {
  if (auto refusal = refusal_of(entries, path)) throw BloomgateError(std::move(*refusal));
}

void LossLimits::require(std::uint64_t entries, const std::string& path,
                         const std::function<void(std::string_view)>& show) const {
  require(entries, path);
  if (const std::string warning = warning_of_daemon(entries, path); !warning.empty()) show(warning);
}

std::string lost_sender_domains(const FilterHeader& combined,
                                const std::vector<std::unique_ptr<MappedFilter>>& filters) {
  const auto has_them = [](const auto& filter) { return filter->header().sender_domains.has_value(); };
  if (combined.sender_domains || std::ranges::none_of(filters, has_them)) return {};
  return "warning: not all filters have the domains of their senders, so the union is without them, and "
         "unlisted senders at any domain may be found; build all from their lists again";
}

}  // namespace bloomgate
