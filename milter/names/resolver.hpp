// Finds TXT records in the DNS, by libunbound: those of DKIM keys (RFC 6376 section 3.6.2), and of DMARC. Cached, many
// at a time, and validated by DNSSEC where there is a trust anchor. Follows /etc/resolv.conf, and does not wait for
// name servers that have just failed. Safe from any thread; no wait holds up another.
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
  // As parse_name_server() takes them. Empty: those of `resolv_conf`; if that names none, the resolver asks the name
  // servers of the Internet itself.
  std::vector<std::string> servers = {};
  std::string trust_anchor_file = {};     // a key of the root zone, say; empty: no answer is validated
  std::vector<std::string> records = {};  // answered without asking a server, as in `a.example. TXT "text"`
  std::string resolv_conf = "/etc/resolv.conf";
};

// As the configuration has them.
ResolverOptions resolver_options(const DaemonOptions& options);

// What a resolver reports, from any thread of its own and of its callers. None may ask the resolver anything.
struct ResolverReports {
  // /etc/resolv.conf has other servers: what description() says of them, or why they cannot be used.
  std::function<void(const std::string&)> on_servers = nullptr;
  // The name servers fail from now on (see server_watch.hpp), or answer again.
  std::function<void(bool)> on_failing = nullptr;
  // The look-up of a key that a message has waited for is over, and took that long.
  std::function<void(TxtStatus, std::chrono::microseconds)> on_key = nullptr;
};

class Resolver {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts its threads. Throws BloomgateError if the options cannot be used.
  explicit Resolver(const ResolverOptions& options, ResolverReports reports = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // A name that is being looked up; its end gives the look-up up.
  class Lookup;

  // Starts a look-up, and does not wait. With the servers of /etc/resolv.conf it first looks whether that file has
  // changed, as the C library does: some microseconds. While the file names no server, the last ones stay. Look-ups
  // that are under way come to their end on the old ones. Throws std::bad_alloc.
  std::shared_ptr<Lookup> start(const std::string& name);

  // Waits for the answer until `deadline`, then gives the look-up up. While the name servers fail, there is no wait,
  // and only names that were found before, and are to be kept still, are answered. Throws std::bad_alloc.
  TxtRecord wait(Lookup& lookup, Clock::time_point deadline);

  // Reports the look-up of a key.
  void report_key(const Lookup& lookup, TxtStatus status) const;

  // Whose servers are asked, and whether answers are validated, in words for the log.
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
  ResolvConf conf_;                                   // what the file says, or dns-servers
  std::optional<std::array<std::int64_t, 6>> stamp_;  // of the file as it was read
  bool is_fresh_ = false;  // it changed a moment ago, and its stamp may not show the next change
  std::string description_;
  std::shared_ptr<Servers> servers_;
};

}  // namespace bloomgate
