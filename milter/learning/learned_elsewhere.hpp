// What other hosts have learned and share: a folder for each, which `bloomgate pull` keeps up to date. Looks once a
// second whether there is something new, and has the file of this host forget whom others have forgotten.
//
// A folder is used as its manifest says, which the host's own key must have signed; nothing older is taken than was
// before, and nothing that is too old (milter/lists/taken_manifests.hpp). While a folder cannot be read, what was known
// of it stays in use, until that is too old itself.
//
// find(), find_domain() and status() are safe from any thread; the rest is the learner's thread's.
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
  std::vector<WhitelistSource> hosts = {};  // their folders, with the key that must have signed each
  std::string learn_key = {};               // the file of the key by which pairs are hashed

  friend bool operator==(const ElsewhereRules&, const ElsewhereRules&) = default;
};

// What is known of one host.
struct HeardStatus {
  std::string folder;
  std::string fault = {};  // why nothing new is taken, in words for a person; empty: nothing is wrong
  bool is_overdue = false;
  std::uint64_t number = 0;  // of the manifest in use; 0: none is
  std::chrono::sys_seconds made = {};
  std::uint64_t pairs = 0;
  std::uint64_t bytes = 0;  // of memory, that they take
};

class LearnedElsewhere {
 public:
  using Day = PairTable::Day;
  using Time = std::chrono::system_clock::time_point;

  // Not remembered: what is only looked at is not in use, and another may be taken later.
  enum class Taken { is_remembered, is_not_remembered };

  explicit LearnedElsewhere(std::shared_ptr<spdlog::logger> log, Taken taken = Taken::is_remembered);
  ~LearnedElsewhere();

  // The last day of use that any host knows; nothing: none has learned it, or it was forgotten.
  std::optional<Day> find(std::string_view user, std::string_view correspondent) const noexcept;
  std::optional<Day> find_domain(std::string_view domain) const noexcept;
  std::vector<HeardStatus> status() const;

  // Hosts that were known before stay as they are, unless the key is another one. Reads the key.
  void set_rules(const ElsewhereRules& rules);

  // Reads what is new. Returns whether what is wrong has changed.
  bool read_news(Time now);

  // Both, for those who only look.
  void look_once(const ElsewhereRules& rules);

  // Whom this host has forgotten, the last of them: others may share pairs of them still. Throws as LearnedFile does.
  void set_own_forgets(LearnedFile& file, const Forgets& forgets);

  // For LearnedFile::set_rehash(), by the key of the hosts.
  Forgets::Rehash rehash() const;

  // Takes out of the file whom others have forgotten, each forget once. Returns whether there was one. Throws as
  // LearnedFile does.
  bool forget_in(LearnedFile& file, LearnedDay today) const;

 private:
  struct Host;
  using Hosts = std::vector<std::shared_ptr<Host>>;

  // Give it a name before a loop over it: set_rules() may put others in their place meanwhile.
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

  // The thread's own.
  ElsewhereRules rules_;
  std::optional<LearnKey> key_;
  std::string key_fault_;
  std::uint64_t shared_as_ = 0;  // forgets_id() of this host; 0: it shares nothing
  Forgets own_forgets_;
};

}  // namespace bloomgate
