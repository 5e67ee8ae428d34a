#include "milter/gate.hpp"

#include <chrono>
#include <string>

#include "config/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLoggedSenderBytes = 320;
constexpr std::size_t kMaxLoggedQueueIdBytes = 64;

// The envelope sender alone, on its word: no more is known of a message yet.
const Policy kPolicy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};

}  // namespace

Decision Gate::conclude(const Session& session, std::string_view queue_id) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const LoadedLists> lists = slot_.get();
  const std::shared_ptr<const LoadedFilter> whitelist = lists->whitelists.empty() ? nullptr : lists->whitelists.front();
  const NamedWhitelist named = {whitelist == nullptr ? std::string_view() : whitelist->name(), whitelist.get()};
  const Decision decision =
      session.failed() ? Decision{} : decide(session.facts(), {.whitelists = {&named, 1}}, kPolicy);
  const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  if (decision.reason == Reason::whitelist_damaged && whitelist->first_to_report_damage()) on_damage_();
  if (log_->should_log(spdlog::level::info)) log_message(session, queue_id, decision, microseconds);
  return decision;
}

void Gate::log_message(const Session& session, std::string_view queue_id, const Decision& decision,
                       double microseconds) const {
  const std::string id = queue_id.empty() ? "-" : printable_word(queue_id, kMaxLoggedQueueIdBytes);
  const auto sender = session.facts().envelope_sender;
  std::string extra;
  if (decision.sender_fault != RejectReason::none) {
    extra.append(" fault=").append(reject_reason_name(decision.sender_fault));
  }
  if (session.forged_headers() != 0) extra += " forged_headers=" + std::to_string(session.forged_headers());
  log_->info("queue_id={} sender={} decision={} reason={} time_us={:.1f}{}", id,
             sender ? printable_word(*sender, kMaxLoggedSenderBytes) : "-", verdict_name(decision.verdict),
             reason_name(decision.reason), microseconds, extra);
}

}  // namespace bloomgate
