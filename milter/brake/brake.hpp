// Notices a listed sender who suddenly sends much more than until now: an account that was taken over, most likely. Its
// messages are checked then, until it has been calm for an hour (or for a day, if it is the day that was too much).
//
// It observes at first, and learns the habits of the senders that there are: for BrakeRules::observe since the file of
// counts was begun. Where the file cannot be used, it observes for as long since the start of the daemon; where it is
// there and damaged, it does not observe: no sender has a habit then, and each is held to the floor.
//
// A sender whose proven mail was spam is suspended (suspended_senders.hpp).
//
// Safe from any thread, but start(), stop() and set_rules(), which are the main thread's. No session waits for the
// disk: a thread of its own writes the counts once an hour and at the end, writes suspensions, and looks for those of
// others once a second. Counting a message takes about 1 µs.
#pragma once

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "filter/address/tag_separators.hpp"
#include "milter/brake/busiest_senders.hpp"
#include "milter/brake/counts_file.hpp"
#include "milter/brake/replays.hpp"
#include "milter/brake/suspended_senders.hpp"
#include "milter/policy/hold.hpp"

namespace bloomgate {

struct BrakeRules {
  Floor floor = {};  // without messages, nothing is counted, and nothing held
  std::chrono::days observe{28};
  std::string path = {};  // of the file of counts
  bool suspends = false;
  std::string suspensions_path = {};

  bool is_on() const noexcept { return floor.messages != 0; }
};

// What is counted: a message that is delivered unless its sender is held.
struct CountedMessage {
  std::string_view sender = {};  // the key that lists it
  // The key is a domain's, a mailing list's or a signer's. Who can send by it is not known, so it has no floor.
  bool is_shared = false;
  std::string_view address = {};                      // of the sender, where another key lists it; else empty
  std::string_view message_id = {};                   // empty: it has none
  std::span<const std::string_view> recipients = {};  // none: they are not known
  bool has_too_many_recipients = false;               // to be known
  TagSeparators recipient_delimiter = {};             // of the mail server
};

class Brake {
 public:
  using Now = std::function<std::chrono::system_clock::time_point()>;

  // `now` is for tests, and is called from any thread.
  Brake(BrakeRules rules, std::shared_ptr<spdlog::logger> log, Now now = nullptr);
  ~Brake();
  Brake(const Brake&) = delete;
  Brake& operator=(const Brake&) = delete;

  // Reads the files. Until then nothing is held.
  void begin();
  // The same, and keeps them from then on.
  void start();
  // Writes the file.
  void stop();

  // From the next message on; the path is that of the start.
  void set_rules(BrakeRules rules);

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

  // Whether it may hold a message.
  bool may_hold() const noexcept { return is_on() || may_suspend(); }
  bool may_suspend() const noexcept { return may_suspend_.load(std::memory_order_relaxed); }

  // Counts the message, and says whether it is held. Throws std::bad_alloc.
  Hold count(const CountedMessage& message);

  // Whether such a message would be held now, without counting it.
  Hold state_of(const CountedMessage& message) const;

  // A checker has looked at a message that its sender has proven. Who is to be suspended is so soon. Throws
  // std::bad_alloc.
  void tell(SuspendedSenders::Opinion opinion);
  // Takes in what others have changed in the file of suspensions, and suspends by what was told until now. The thread
  // does so by itself once a second.
  void work_off();

  struct Status {
    bool is_on = false;
    // Until then it only observes; nothing: it holds.
    std::optional<std::chrono::system_clock::time_point> observes_until = {};
    std::uint64_t senders = 0;  // that are counted
    std::uint64_t bytes = 0;    // of memory that they take
    std::uint64_t held = 0;     // messages, since the start
    std::uint64_t noticed = 0;  // messages that would have been held, while it observes
    std::string fault = {};     // of the file, in words for a person; empty: nothing is wrong
    SuspendedSenders::Status suspended = {};
  };
  Status status() const;

 private:
  using SystemClock = std::chrono::system_clock;

  void run();
  std::chrono::sys_seconds seconds() const;
  bool is_suspended(const CountedMessage& message) const;
  std::vector<std::uint64_t> hashes_of(const CountedMessage& message);
  void work_off_guarded() noexcept;
  void load();
  void save();
  void note_fault(const std::string& what);
  HalfHours now() const;
  SenderCounts::Rules rules_of(bool is_shared, HalfHours now) const;
  bool is_observing(HalfHours now) const noexcept;

  const std::shared_ptr<spdlog::logger> log_;
  const Now now_;
  const std::string path_;
  std::atomic<bool> is_on_{false}, may_suspend_{false};
  std::atomic<std::uint32_t> most_messages_, most_recipients_, observed_days_;
  std::atomic<std::uint64_t> held_{0}, noticed_{0}, unknown_recipients_{0};

  // These are set by begin().
  std::uint64_t seed_ = 0;  // of hashes
  bool is_damaged_ = false;
  bool may_save_ = true;
  std::atomic<HalfHours> began_{0};  // to count: 0 before that
  BusiestSenders senders_;
  SuspendedSenders suspended_;
  std::mutex working_off_;

  mutable std::mutex mutex_;  // for what follows
  Replays replays_;
  std::string fault_;
  std::vector<SuspendedSenders::Opinion> told_;
  bool is_stopping_ = false;
  std::condition_variable wakeup_;
  std::thread thread_;
};

}  // namespace bloomgate
