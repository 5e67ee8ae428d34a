// Finds TXT records in the DNS, by libunbound: those of DKIM keys (RFC 6376 section 3.6.2), and of DMARC. Cached, many
// at a time, and validated by DNSSEC where there is a trust anchor. Safe from any thread; no wait holds up another.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "config/daemon_options.hpp"

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

enum class TxtStatus {
  found,
  not_found,      // the name does not exist, or has no TXT record
  several,        // more than one TXT record
  too_long,       // longer than kMaxTxtBytes
  malformed,      // not printable ASCII
  server_failed,  // SERVFAIL and the like; a loop of CNAMEs, too
  bogus,          // DNSSEC says that the answer is forged
  timed_out,
};

struct TxtRecord {
  TxtStatus status = TxtStatus::server_failed;
  std::string text = {};   // if found
  bool is_secure = false;  // DNSSEC vouches for it
};

// libopendkim takes no longer record of a key. A key of 4,096 bits needs some 750 bytes, and DMARC fewer.
inline constexpr std::size_t kMaxTxtBytes = 1024;

class Resolver {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts its thread. Throws BloomgateError if the options cannot be used.
  explicit Resolver(const ResolverOptions& options);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // A name that is being looked up; its end gives the look-up up. Must not outlive the resolver.
  class Lookup;

  // Starts a look-up, and does not wait. Throws std::bad_alloc.
  std::shared_ptr<Lookup> start(const std::string& name);

  // Waits for the answer until `deadline`, then gives the look-up up. Throws std::bad_alloc.
  TxtRecord wait(Lookup& lookup, Clock::time_point deadline);

  // Whose servers are asked, and whether answers are validated, in words for the log.
  const std::string& description() const noexcept;

 private:
  class Unbound;
  std::unique_ptr<Unbound> unbound_;
};

}  // namespace bloomgate
