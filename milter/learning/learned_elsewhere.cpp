#include "milter/learning/learned_elsewhere.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/share/shared_folder.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lists/taken_manifests.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetryAfter = 5s;
// `bloomgate share` signs again every day.
constexpr auto kSignedWithin = std::chrono::days(2);

// The folder may not exist.
std::string manifest_in(const std::string& folder) {
  return (std::filesystem::path(folder) / kManifestName).string();
}

bool is_overdue(const Manifest& manifest, std::chrono::system_clock::time_point now) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  return seconds > manifest.holds_until || seconds > manifest.made + kSignedWithin;
}

}  // namespace

struct LearnedElsewhere::Host {
  Host(WhitelistSource from, const LearnKey& key, bool is_key) : source(std::move(from)), pairs(key), has_key(is_key) {
    status.folder = source.path;
  }

  WhitelistSource source;
  HeardPairs pairs;
  const bool has_key;

  // The members below are used by the learner's thread only.
  bool has_looked = false;
  std::optional<FileStamp> seen;  // of the manifest at that time; nothing: there was none
  std::optional<Manifest> taken;
  bool was_too_old = false;
  int failures = 0;  // with that manifest
  std::chrono::steady_clock::time_point retry_at = {};

  // Protected by the mutex of the object that owns the host.
  HeardStatus status;
};

LearnedElsewhere::LearnedElsewhere(std::shared_ptr<spdlog::logger> log, Taken taken)
    : log_(std::move(log)), remembers_(taken == Taken::is_remembered), hosts_(std::make_shared<const Hosts>()) {}

LearnedElsewhere::~LearnedElsewhere() = default;

std::shared_ptr<const LearnedElsewhere::Hosts> LearnedElsewhere::hosts() const noexcept {
  const std::lock_guard lock(mutex_);
  return hosts_;
}

std::optional<LearnedElsewhere::Day> LearnedElsewhere::find(std::string_view user,
                                                            std::string_view correspondent) const noexcept {
  std::optional<Day> last;
  if (!is_ready_) return last;
  const auto all = hosts();
  for (const auto& host : *all) last = std::max(last, host->pairs.find(user, correspondent));
  return last;
}

std::optional<LearnedElsewhere::Day> LearnedElsewhere::find_domain(std::string_view domain) const noexcept {
  std::optional<Day> last;
  const auto all = hosts();
  for (const auto& host : *all) last = std::max(last, host->pairs.find_domain(domain));
  return last;
}

std::vector<HeardStatus> LearnedElsewhere::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<HeardStatus> all;
  for (const auto& host : *hosts_) all.push_back(host->status);
  return all;
}

// Without a key, nothing of what the hosts share can be looked up; it is tried again later. Pairs loaded with a key
// that has become unreadable stay in use.
bool LearnedElsewhere::read_key() {
  try {
    const LearnKey key = LearnKey::read_from(rules_.learn_key);
    // Another key makes other hashes.
    if (key_ && key_->check() != key.check()) set_hosts({});
    key_ = key;
    key_fault_.clear();
  } catch (const std::exception& error) {
    key_fault_ = error.what();
  }
  return key_fault_.empty();
}

void LearnedElsewhere::set_hosts(Hosts hosts) {
  auto made = std::make_shared<const Hosts>(std::move(hosts));
  const std::lock_guard lock(mutex_);
  hosts_ = std::move(made);
}

void LearnedElsewhere::set_rules(const ElsewhereRules& rules) {
  rules_ = rules;
  if (!rules_.hosts.empty()) read_key();
  const auto before = hosts();
  Hosts next;
  for (const WhitelistSource& source : rules_.hosts) {
    const auto found = std::ranges::find_if(*before, [&](const auto& host) { return host->source == source; });
    constexpr std::array<std::uint8_t, LearnKey::kBytes> kNoKey = {};
    const bool is_known = found != before->end() && (*found)->has_key == key_.has_value();
    next.push_back(is_known ? *found
                            : std::make_shared<Host>(source, key_.value_or(LearnKey(kNoKey)), key_.has_value()));
    if (!is_known && found != before->end()) next.back()->status.fault = (*found)->status.fault;
  }
  set_hosts(std::move(next));
  set_pending();
}

bool LearnedElsewhere::read_news(Time now) {
  if (rules_.hosts.empty()) return false;
  if (!key_fault_.empty() && read_key()) set_rules(ElsewhereRules(rules_));
  bool has_changed = false;
  const auto all = hosts();
  for (const auto& host : *all) {
    const std::string fault = host->status.fault;
    const bool was_overdue = host->status.is_overdue;
    look_at(*host, now);
    has_changed = has_changed || host->status.fault != fault || host->status.is_overdue != was_overdue;
  }
  // Only after all were read, since one host may share a person whom another one has forgotten.
  is_ready_ = true;
  return has_changed;
}

void LearnedElsewhere::look_once(const ElsewhereRules& rules) {
  set_rules(rules);
  // If a folder changed during the first look, the second one sees a single state of it.
  for (int look = 0; look < 2; ++look) read_news(std::chrono::system_clock::now());
}

void LearnedElsewhere::look_at(Host& host, Time now) {
  if (!key_fault_.empty()) {
    return note_fault(host, key_fault_);
  }
  if (host.taken) {
    const bool is_too_old = std::chrono::floor<std::chrono::seconds>(now) > used_until(*host.taken, host.source);
    if (is_too_old) host.pairs.clear_pairs();
    // Read the folder again: either to report that it is too old, or because the clock was wrong.
    if (is_too_old != host.was_too_old) host.has_looked = false;
    host.was_too_old = is_too_old;
    const std::lock_guard lock(mutex_);
    host.status.is_overdue = is_overdue(*host.taken, now);
    if (is_too_old) host.status.pairs = 0;
  }
  const std::optional<FileStamp> stamp = FileStamp::of_path(manifest_in(host.source.path));
  const bool is_known = std::exchange(host.has_looked, true) && host.seen == stamp;
  if (is_known && (host.failures == 0 || std::chrono::steady_clock::now() < host.retry_at)) return;
  host.seen = stamp;
  try {
    take(host, now);
    host.failures = 0;
  } catch (const std::exception& error) {
    set_pending();  // a part of it may have been loaded
    // The folder may be changing just now: the next look will see a single state of it.
    if (++host.failures > 1) {
      note_fault(host, error.what());
      host.retry_at = std::chrono::steady_clock::now() + kRetryAfter;
    }
  }
}

void LearnedElsewhere::take(Host& host, Time now) {
  const std::string& folder = host.source.path;
  const std::string path = manifest_in(folder);
  if (!FileStamp::of_path(path)) {
    throw BloomgateError(ErrorCode::cannot_open,
                         path + " is not there; bring here what the other host shares: bloomgate pull URL " +
                             shell_word(folder, "FOLDER"),
                         {.path = path});
  }
  const UsableManifest usable = usable_manifest(host.source, now);
  const Manifest& manifest = usable.signed_by_trusted.manifest;
  require_shared(manifest, path);
  host.pairs.take(folder, usable.signed_by_trusted);
  const bool is_first = !host.taken;
  host.taken = manifest;
  set_pending();
  const std::uint64_t pairs = host.pairs.size();
  bool was_faulty = false;
  {
    const std::lock_guard lock(mutex_);
    was_faulty = !std::exchange(host.status.fault, {}).empty();
    host.status.is_overdue = is_overdue(manifest, now);
    host.status.number = manifest.number;
    host.status.made = manifest.made;
    host.status.pairs = pairs;
    host.status.bytes = host.pairs.bytes();
  }
  if (is_first || was_faulty) {
    log_->info("learning: {}: list {} of another host, with {}{}", printable(folder), manifest.list,
               format_counted(pairs, "pair", "pairs"), was_faulty ? ", heard of again" : "");
  }
  // The files are in use even if this cannot be stored.
  if (remembers_) remember_taken(host.source, usable.signed_by_trusted);
}

void LearnedElsewhere::note_fault(Host& host, const std::string& fault) {
  {
    const std::lock_guard lock(mutex_);
    if (host.status.fault == fault) return;
    host.status.fault = fault;
  }
  log_->error("learning: {}: {}; what was known of that host is used until it is too old", printable(host.source.path),
              printable(fault));
}

void LearnedElsewhere::set_own_forgets(LearnedFile& file, const Forgets& forgets) {
  const std::uint64_t host = file.shared_by();
  shared_as_ = host == 0 ? 0 : forgets_id(host, file.source());
  own_forgets_ = forgets;
  set_pending();
}

void LearnedElsewhere::set_pending() {
  if (!key_) return;
  const auto all = hosts();
  for (const auto& host : *all) {
    const auto& applied = host->pairs.applied();
    const auto applied_of = [&](std::uint64_t forgets) {
      const auto found = applied.find(forgets);
      return found != applied.end() ? found->second : 0;
    };
    ForgottenPeople pending;
    for (const auto& other : *all) {
      const std::uint64_t forgets = forgets_of(*other);
      if (other == host || forgets == forgets_of(*host)) continue;
      const std::int64_t last = applied_of(forgets);
      for (auto each = other->pairs.people().upper_bound(last); each != other->pairs.people().end(); ++each) {
        pending.insert(each->second);
      }
    }
    const std::int64_t last = applied_of(shared_as_);
    std::int64_t number = own_forgets_.count() - static_cast<std::int64_t>(own_forgets_.last().size());
    for (const Forgets::Person& person : own_forgets_.last()) {
      if (++number > last && !person.is_heard) pending.insert(key_->hash_of_person(person.hash));
    }
    host->pairs.set_pending(std::move(pending));
  }
}

std::uint64_t LearnedElsewhere::forgets_of(const Host& host) noexcept {
  return host.pairs.source() == 0 ? 0 : forgets_id(host.pairs.host(), host.pairs.source());
}

bool LearnedElsewhere::forget_in(LearnedFile& file, LearnedDay today) const {
  const LearnedFile::HeardForgets heard = file.heard_forgets();
  bool has_forgotten = false;
  const auto all = hosts();
  for (const auto& host : *all) {
    const auto& forgotten = host->pairs.people();
    if (host->pairs.source() == 0 || forgotten.empty() || forgets_of(*host) == shared_as_) continue;
    const auto found = heard.find(host->pairs.host());
    const bool is_same = found != heard.end() && found->second.source == host->pairs.source();
    std::vector<std::uint64_t> people;
    for (auto each = forgotten.upper_bound(is_same ? found->second.forgets : 0); each != forgotten.end(); ++each) {
      people.push_back(each->second);
    }
    if (people.empty()) continue;
    const ForgottenPeople set(people.begin(), people.end());
    const std::uint64_t gone = file.forget_heard(
        host->pairs.host(), {host->pairs.source(), forgotten.rbegin()->first}, people,
        [&](const LearnedPair& pair) { return name_either(set, *key_, pair.user, pair.correspondent); }, today);
    log_->info("learning: {} forgotten at the host of {}: {} forgotten here, too",
               format_counted(people.size(), "person was", "people were"), printable(host->source.path),
               format_counted(gone, "pair is", "pairs are"));
    has_forgotten = true;
  }
  return has_forgotten;
}

Forgets::Rehash LearnedElsewhere::rehash() const {
  if (!key_) return {};
  return [key = *key_](std::uint64_t person) { return key.hash_of_person(person); };
}

}  // namespace bloomgate
