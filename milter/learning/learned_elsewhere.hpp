// What other hosts have learned and share: a folder for each host, which `bloomgate pull` keeps up to date. Looks once
// a second for news, and removes from this host's file the people whom others have forgotten.
//
// A folder is used as its manifest says, which the host's own key must have signed. A manifest is not accepted if it is
// older than the last one or overdue (milter/lists/taken_manifests.hpp). While a folder cannot be read, its last
// content stays in use, until that is overdue itself.
//
// find(), find_domain() and status() are safe from any thread; the rest is for the learner's thread.
#pragma once

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/system/file_stamp.hpp"
#include "milter/learning/heard_pairs.hpp"

namespace bloomgate {

struct ElsewhereRules {
  std::vector<WhitelistSource> hosts = {};  // their folders, with the keys of which one must have signed each
  std::string learn_key = {};               // the file of the key by which pairs are hashed

  friend bool operator==(const ElsewhereRules&, const ElsewhereRules&) = default;
};

// The state of one host.
struct HeardStatus {
  std::string folder;
  std::string fault = {};  // why nothing new is loaded, in words for a person; empty: no fault
  bool is_overdue = false;
  std::uint64_t number = 0;  // of the manifest in use; 0: there is none
  std::chrono::sys_seconds made = {};
  std::uint64_t pairs = 0;
  std::uint64_t bytes = 0;  // memory that the pairs occupy
};

class LearnedElsewhere {
 public:
  using Day = PairTable::Day;
  using Time = std::chrono::system_clock::time_point;

  // Whether accepted manifests are stored. Programs that only look do not store them: they do not use the manifest, and
  // another one may be accepted later.
  enum class Taken { is_remembered, is_not_remembered };

  explicit LearnedElsewhere(std::shared_ptr<spdlog::logger> log, Taken taken = Taken::is_remembered);
  ~LearnedElsewhere();

  // The last day of use at any host; nothing: no host has learned the pair, or it was forgotten.
  std::optional<Day> find(std::string_view user, std::string_view correspondent) const noexcept;
  std::optional<Day> find_domain(std::string_view domain) const noexcept;
  std::vector<HeardStatus> status() const;

  // Known hosts stay unchanged, unless their key differs. Reads the key.
  void set_rules(const ElsewhereRules& rules);

  // Loads what is new. Returns whether a fault has appeared or disappeared.
  bool read_news(Time now);

  // Calls both functions once, for programs that only look.
  void look_once(const ElsewhereRules& rules);

  // The people whom this host has forgotten, as far as other hosts may still share pairs of them. Throws as LearnedFile
  // does.
  void set_own_forgets(LearnedFile& file, const Forgets& forgets);

  // For LearnedFile::set_rehash(), with the key that the hosts share.
  Forgets::Rehash rehash() const;

  // Removes from the file the people whom others have forgotten, each forget once. Returns whether there was one.
  // Throws as LearnedFile does.
  bool forget_in(LearnedFile& file, LearnedDay today) const;

 private:
  struct Host;
  using Hosts = std::vector<std::shared_ptr<Host>>;

  // Store the result in a variable before a loop over it: set_rules() may replace the hosts meanwhile.
  std::shared_ptr<const Hosts> hosts() const noexcept;
  bool read_key();
  void set_hosts(Hosts hosts);
  void look_at(Host& host, Time now);
  void take(Host& host, Time now);
  void note_fault(Host& host, const std::string& fault);
  void set_pending();
  static std::uint64_t forgets_of(const Host& host) noexcept;

  const std::shared_ptr<spdlog::logger> log_;
  const bool remembers_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Hosts> hosts_;  // never null
  std::atomic<bool> is_ready_ = false;

  // The members below are used by the learner's thread only.
  ElsewhereRules rules_;
  std::optional<LearnKey> key_;
  std::string key_fault_;
  std::uint64_t shared_as_ = 0;  // forgets_id() of this host; 0: it shares nothing
  Forgets own_forgets_;
};

}  // namespace bloomgate
