// Finds TXT records in the DNS, through libunbound: those of DKIM keys (RFC 6376 section 3.6.2) and of DMARC. Look-ups
// are cached, run concurrently, and are validated by DNSSEC if there is a trust anchor. Follows /etc/resolv.conf, and
// does not wait for name servers that have just failed. Safe from any thread; no wait blocks another one.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/daemon_options.hpp"
#include "milter/names/resolv_conf.hpp"
#include "milter/names/txt_record.hpp"

namespace bloomgate {

struct ResolverOptions {
  // In the forms that parse_name_server() reads. Empty: those of `resolv_conf`; if that file names none, the resolver
  // queries the authoritative name servers itself.
  std::vector<std::string> servers = {};
  std::string trust_anchor_file = {};     // for example a key of the root zone; empty: no answer is validated
  std::vector<std::string> records = {};  // answers that need no server, as in `a.example. TXT "text"`
  std::string resolv_conf = "/etc/resolv.conf";
};

// The options from the configuration.
ResolverOptions resolver_options(const DaemonOptions& options);

// The reports of a resolver, called from any thread of its own and of its callers. None of them may call the resolver.
struct ResolverReports {
  // /etc/resolv.conf has other servers: their text in description(), or why they cannot be used.
  std::function<void(const std::string&)> on_servers = nullptr;
  // true: the name servers fail from now on (see server_watch.hpp); false: they answer again.
  std::function<void(bool)> on_failing = nullptr;
  // The look-up of a key for which a message has waited is over; the second argument is its duration.
  std::function<void(TxtStatus, std::chrono::microseconds)> on_key = nullptr;
};

class Resolver {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts its threads. Throws BloomgateError if the options are unusable.
  explicit Resolver(const ResolverOptions& options, ResolverReports reports = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // A name that is being looked up; destroying it abandons the look-up.
  class Lookup;

  // Starts a look-up, and does not wait. If the servers come from /etc/resolv.conf, it first checks whether that file
  // has changed, as the C library does: some microseconds. While the file names no server, the last ones stay in use.
  // Look-ups in progress end on the old servers. Throws std::bad_alloc.
  std::shared_ptr<Lookup> start(const std::string& name);

  // Waits for the answer until `deadline`, then abandons the look-up. While the name servers fail, it does not wait,
  // and answers only from the cache. Throws std::bad_alloc.
  TxtRecord wait(Lookup& lookup, Clock::time_point deadline);

  // Reports the look-up of a key to ResolverReports::on_key.
  void report_key(const Lookup& lookup, TxtStatus status) const;

  // Which servers are asked, and whether answers are validated, in words for the log.
  std::string description() const;

 private:
  class Servers;

  std::shared_ptr<Servers> current();
  void follow();
  std::shared_ptr<Servers> make_servers(ResolvConf conf);
  std::string describe(const ResolvConf& conf) const;

  const ResolverOptions options_;
  const ResolverReports reports_;
  mutable std::mutex mutex_;
  ResolvConf conf_;                                   // the content of the file, or of dns-servers
  std::optional<std::array<std::int64_t, 6>> stamp_;  // of the file when it was read
  bool is_fresh_ = false;  // it changed a moment ago, and its stamp may not show the next change
  std::string description_;
  std::shared_ptr<Servers> servers_;
};

}  // namespace bloomgate
