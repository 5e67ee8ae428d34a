#include "milter/daemon/served_options.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "milter/dkim/child_verifier.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "milter/learning/logger.hpp"

namespace bloomgate {
namespace {

bool verify_alike(const DaemonOptions& one, const DaemonOptions& other) {
  return verifies_signatures(one) == verifies_signatures(other) && one.alignment == other.alignment &&
         one.require_oversigned == other.require_oversigned && one.require_signed == other.require_signed &&
         one.max_signature_age == other.max_signature_age && one.dns_servers == other.dns_servers &&
         one.dns_timeout == other.dns_timeout && one.dns_trust_anchor == other.dns_trust_anchor;
}

ResolverReports name_reports(const ConnectionParts& common) {
  const auto log = common.log;
  Tally* const tally = common.monitor != nullptr ? &common.monitor->tally() : nullptr;
  return {.on_servers = [log](const std::string& text) { log->info("keys are now {}", printable(text)); },
          .on_failing =
              [log, tally](bool failing) {
                if (tally != nullptr) tally->set_name_servers_failing(failing);
                if (failing) {
                  log->warn(
                      "no name server answers: until one does, signed messages are checked, and do not wait for keys");
                } else {
                  log->info("name servers are asked for keys again");
                }
              },
          .on_key =
              [tally](TxtStatus status, std::chrono::microseconds took) {
                if (tally != nullptr) tally->note_key_lookup(status, std::chrono::duration<double>(took).count());
              }};
}

std::shared_ptr<Verifier> make_verifier(const DaemonOptions& options, const ConnectionParts& common) {
  if (!verifies_signatures(options)) return nullptr;
  auto verifier = std::make_shared<ChildVerifier>(
      ChildVerifier::Options{.rules = verify_rules(options), .resolver = resolver_options(options)},
      ChildVerifier::Reports{
          .on_fault = [log = common.log](const std::string& what) { log->error("{}", printable(what)); },
          .before_waiting = common.before_waiting,
          .names = name_reports(common)});
  common.log->info("DKIM signatures of listed senders are verified; keys are {}", printable(verifier->description()));
  return verifier;
}

std::shared_ptr<const DeepCheck> make_deep_check(const DaemonOptions& options, const ConnectionParts& common) {
  for (const DeepCheckServer& server : options.deep_check.servers) {
    common.log->info("deep-check {}{}", printable(to_string(server)),
                     options.mode == Mode::observe ? ": not asked while the mode is observe" : "");
  }
  if (!asks_deep_check(options)) return nullptr;
  return std::make_shared<const DeepCheck>(options.deep_check);
}

// A sample that is spam is logged at level warn, whether or not the lines of single messages are logged.
void report_sample(SampleAnswer answer, std::string_view line, const ConnectionParts& common) noexcept {
  if (common.monitor != nullptr) common.monitor->tally().note_sample(answer);
  if (line.empty()) return;
  try {
    common.log->log(answer == SampleAnswer::ham ? spdlog::level::info : spdlog::level::warn, "{}", line);
  } catch (const std::exception&) {
    // The sample is already counted.
  }
}

std::shared_ptr<DeliverySampler> make_sampler(const DaemonOptions& options, const ConnectionParts& common) {
  if (!asks_deep_check(options) || options.deep_check.sample_share == 0) return nullptr;
  common.log->info("deep-check-sample: {:g}% of the delivered messages are shown to the checker afterwards",
                   100 * options.deep_check.sample_share);
  return std::make_shared<DeliverySampler>(options.deep_check, [common](SampleAnswer answer, std::string_view line) {
    report_sample(answer, line, common);
  });
}

}  // namespace

void require_temporary_folder(const DaemonOptions& options) {
  if (!asks_deep_check(options)) return;
  const std::string& folder = options.deep_check.temporary_folder;
  errno = 0;
  if (access((folder + "/.").c_str(), W_OK | X_OK) == 0) return;
  throw BloomgateError(ErrorCode::bad_configuration,
                       "deep-check-folder: expected a folder that the daemon may write to, got '" + folder +
                           "': " + std::generic_category().message(errno) + "; make it, or name another");
}

std::shared_ptr<const ServedOptions> make_served_options(const DaemonOptions& options, const ConnectionParts& common,
                                                         const ServedOptions* in_use) {
  require_temporary_folder(options);
  auto served = std::make_shared<ServedOptions>(ServedOptions{common, options});
  const bool keeps_check =
      in_use != nullptr && in_use->options.deep_check == options.deep_check && in_use->options.mode == options.mode;
  served->deep_check = keeps_check ? in_use->deep_check : make_deep_check(options, common);
  served->sampler = keeps_check ? in_use->sampler : make_sampler(options, common);
  const bool keeps_verifier = in_use != nullptr && verify_alike(in_use->options, options);
  served->verifier = keeps_verifier ? in_use->verifier : make_verifier(options, common);
  served->mode = options.mode;
  served->check_mark = check_mark(options);
  served->host_name = options.host_name;
  return served;
}

}  // namespace bloomgate
