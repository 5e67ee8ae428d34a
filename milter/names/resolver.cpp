#include "milter/names/resolver.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "filter/base/error.hpp"
#include "milter/names/awaited_answer.hpp"
#include "milter/names/server_watch.hpp"
#include "milter/names/unbound_context.hpp"

namespace bloomgate {
namespace {

using Clock = Resolver::Clock;

// Empty if the file cannot be read.
std::string text_of(const std::string& path) {
  constexpr std::streamsize kMostBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), kMostBytes);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Identifies the file to which the path leads: another file, or other content, has another stamp, except for a second
// write within one tick of the file system's clock. Nothing if there is no file.
using Stamp = std::array<std::int64_t, 6>;
std::optional<Stamp> stamp_of(const std::string& path) noexcept {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return Stamp{static_cast<std::int64_t>(found.st_dev),
               static_cast<std::int64_t>(found.st_ino),
               found.st_size,
               found.st_mtim.tv_nsec,
               found.st_ctim.tv_sec,
               found.st_ctim.tv_nsec};
}

bool is_fresh(const Stamp& stamp) noexcept {
  constexpr std::int64_t kSeconds = 2;
  const std::int64_t changed = stamp[4];
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return now - changed <= kSeconds;
}

std::vector<NameServer> servers_of(const ResolverOptions& options) {
  std::vector<NameServer> servers;
  for (const std::string& text : options.servers) {
    const std::optional<NameServer> server = parse_name_server(text);
    if (!server) {
      throw BloomgateError(ErrorCode::bad_configuration,
                           "dns-servers: expected " + std::string(kNameServerForms) + ", got '" + text + "'");
    }
    servers.push_back(*server);
  }
  return servers;
}

// The names of the records, which have the form `a.example. TXT "text"`.
std::set<std::string> names_of(const std::vector<std::string>& records) {
  std::set<std::string> names;
  for (const std::string& record : records) {
    std::string name = record.substr(0, record.find(' '));
    if (name.ends_with('.')) name.pop_back();
    names.insert(std::move(name));
  }
  return names;
}

}  // namespace

// One list of name servers, with the answers found there, and whether they fail.
class Resolver::Servers {
 public:
  Servers(const UnboundOptions& options, std::function<void(bool)> on_failing)
      : unbound_(options), own_names_(names_of(options.records)), watch_(options.servers, std::move(on_failing)) {}

  // Null: the answer is already set.
  std::unique_ptr<UnboundContext::Question> ask(const std::shared_ptr<AwaitedAnswer>& answer) {
    // No server is asked for this name, so it says nothing about the servers, and their failure does not affect it.
    if (own_names_.contains(answer->name())) return unbound_.ask(answer);
    if (watch_.is_failing()) {
      watch_.want(answer->name());
      answer->set(found_before(answer->name()));
      return nullptr;
    }
    watch_.add(answer);
    return unbound_.ask(answer);
  }

  void remember(const std::string& name, const TxtRecord& record) {
    constexpr std::size_t kMostKnown = 4096;
    if (record.status != TxtStatus::found || record.ttl <= std::chrono::seconds(0)) return;
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostKnown) known_.clear();
    known_[name] = {record, Clock::now() + record.ttl};
  }

  bool is_failing() const noexcept { return watch_.is_failing(); }
  void stop_watching() noexcept { watch_.stop(); }

 private:
  TxtRecord found_before(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(name);
    if (known == known_.end() || known->second.second < Clock::now()) return {.status = TxtStatus::not_asked};
    return known->second.first;
  }

  UnboundContext unbound_;
  const std::set<std::string> own_names_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::pair<TxtRecord, Clock::time_point>> known_;  // each with its expiry time
  ServerWatch watch_;
};

class Resolver::Lookup {
 public:
  Lookup(std::shared_ptr<Servers> servers, const std::string& name)
      : servers_(std::move(servers)),
        answer_(std::make_shared<AwaitedAnswer>(name)),
        question_(servers_->ask(answer_)) {}
  ~Lookup() { answer_->set({.status = TxtStatus::not_asked}); }  // abandoned, which says nothing about the servers
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  TxtRecord wait_until(Clock::time_point deadline) {
    TxtRecord record = answer_->wait_until(deadline);
    if (question_ != nullptr) servers_->remember(answer_->name(), record);
    question_.reset();
    return record;
  }

  Clock::duration took() const noexcept { return answer_->took(); }

 private:
  std::shared_ptr<Servers> servers_;
  std::shared_ptr<AwaitedAnswer> answer_;
  std::unique_ptr<UnboundContext::Question> question_;
};

ResolverOptions resolver_options(const DaemonOptions& options) {
  return {.servers = options.dns_servers, .trust_anchor_file = options.dns_trust_anchor, .records = {}};
}

Resolver::Resolver(const ResolverOptions& options, ResolverReports reports)
    : options_(options), reports_(std::move(reports)) {
  ResolvConf conf = {.servers = servers_of(options_), .left_out = {}};
  if (options_.servers.empty()) {
    stamp_ = stamp_of(options_.resolv_conf);
    is_fresh_ = stamp_ && is_fresh(*stamp_);
    conf = read_resolv_conf(text_of(options_.resolv_conf));
  }
  servers_ = make_servers(std::move(conf));
}

Resolver::~Resolver() {
  servers_->stop_watching();
}

std::shared_ptr<Resolver::Servers> Resolver::make_servers(ResolvConf conf) {
  auto servers = std::make_shared<Servers>(UnboundOptions{conf.servers, options_.trust_anchor_file, options_.records},
                                           reports_.on_failing);
  description_ = describe(conf);
  conf_ = std::move(conf);
  return servers;
}

std::string Resolver::describe(const ResolvConf& conf) const {
  std::string text = "from ";
  for (const NameServer& server : conf.servers) text.append(text.size() > 5 ? ", " : "").append(to_string(server));
  if (options_.servers.empty()) {
    if (conf.servers.empty()) text += "the Internet's own name servers, since no server is named";
    text += " in " + options_.resolv_conf;
    for (const std::string& line : conf.left_out) text += ", without its bad " + line;
  }
  return text + (options_.trust_anchor_file.empty() ? ", not validated (DNSSEC)"
                                                    : ", validated by DNSSEC with " + options_.trust_anchor_file);
}

// Requires the lock.
void Resolver::follow() {
  const std::optional<Stamp> stamp = stamp_of(options_.resolv_conf);
  if (!stamp || (stamp == stamp_ && !is_fresh_)) return;
  stamp_ = stamp;
  is_fresh_ = is_fresh(*stamp);
  ResolvConf conf = read_resolv_conf(text_of(options_.resolv_conf));
  if (conf == conf_ || conf.servers.empty()) return;
  const std::shared_ptr<Servers> old = servers_;
  try {
    servers_ = make_servers(std::move(conf));
  } catch (const std::exception& error) {
    if (reports_.on_servers) {
      reports_.on_servers("as before: " + options_.resolv_conf + " has changed, but " + error.what());
    }
    return;
  }
  const bool was_failing = old->is_failing();
  old->stop_watching();
  if (was_failing && reports_.on_failing) reports_.on_failing(false);
  if (reports_.on_servers) reports_.on_servers(description_);
}

std::shared_ptr<Resolver::Servers> Resolver::current() {
  const std::lock_guard lock(mutex_);
  if (options_.servers.empty()) follow();
  return servers_;
}

std::shared_ptr<Resolver::Lookup> Resolver::start(const std::string& name) {
  return std::make_shared<Lookup>(current(), name);
}

TxtRecord Resolver::wait(Lookup& lookup, Clock::time_point deadline) {
  return lookup.wait_until(deadline);
}

void Resolver::report_key(const Lookup& lookup, TxtStatus status) const {
  if (reports_.on_key) reports_.on_key(status, std::chrono::duration_cast<std::chrono::microseconds>(lookup.took()));
}

std::string Resolver::description() const {
  const std::lock_guard lock(mutex_);
  return description_;
}

}  // namespace bloomgate
