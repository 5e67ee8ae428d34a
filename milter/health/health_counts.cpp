#include "milter/health/health_counts.hpp"

namespace bloomgate {

HealthCounts& HealthCounts::operator-=(const HealthCounts& before) noexcept {
  messages -= before.messages;
  delivered -= before.delivered;
  listed -= before.listed;
  internal_errors -= before.internal_errors;
  slow -= before.slow;
  child_signed -= before.child_signed;
  deep_checks -= before.deep_checks;
  failed_deep_checks -= before.failed_deep_checks;
  samples_spam -= before.samples_spam;
  samples_ham -= before.samples_ham;
  samples_unanswered -= before.samples_unanswered;
  lost_log_lines -= before.lost_log_lines;
  turned_away -= before.turned_away;
  without_descriptor -= before.without_descriptor;
  learned -= before.learned;
  over_rate -= before.over_rate;
  over_exempt_rate -= before.over_exempt_rate;
  for (std::size_t i = 0; i < signatures.size(); ++i) signatures[i] -= before.signatures[i];
  return *this;
}

void RecentCounts::close_minute(const HealthCounts& since_start) noexcept {
  minutes_.close(since_start);
  ++closed_;
  if (closed_ % kMinutesOfHour == 0) hours_.close(since_start);
  if (closed_ % (kMinutesOfHour * kHoursOfDay) == 0) days_.close(since_start);
}

}  // namespace bloomgate
