// Notices a listed sender who suddenly sends much more than until now: an account that was taken over, most likely. Its
// messages are checked then, until it has been calm for an hour (or for a day, if it is the day that was too much).
//
// It observes at first, and learns the habits of the senders that there are: for BrakeRules::observe since the file of
// counts was begun. Where the file cannot be used, it observes for as long since the start of the daemon; where it is
// there and damaged, it does not observe: no sender has a habit then, and each is held to the floor.
//
// A sender whose proven mail was spam is suspended: checked for a day, or until a person clears it (suspensions.hpp). A
// checker that is wrong cannot suspend more than some senders an hour: kMostAnHour, or one of a thousand that are
// counted.
//
// Safe from any thread, but start(), stop() and set_rules(), which are the main thread's. No session waits for the disk:
// a thread of its own writes the counts once an hour and at the end, writes suspensions, and looks for those of others
// once a second. Counting a message takes some 0.5 µs.
#pragma once

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "filter/system/file_stamp.hpp"
#include "milter/brake/busiest_senders.hpp"
#include "milter/brake/counts_file.hpp"
#include "milter/brake/replays.hpp"
#include "milter/brake/suspensions.hpp"
#include "milter/policy/hold.hpp"

namespace bloomgate {

struct BrakeRules {
  Floor floor = {};  // without messages, nothing is counted, and nothing held
  std::chrono::days observe{28};
  std::string path = {};              // of the file of counts
  bool suspends = false;
  std::string suspensions_path = {};

  bool is_on() const noexcept { return floor.messages != 0; }
};

// Whose a message is, by the names of lists.
struct CountedNames {
  std::string sender = {};   // the key that lists it
  std::string address = {};  // of the sender, where another key lists it; else empty
};

// What is counted: a message that is delivered unless its sender is held.
struct CountedMessage {
  std::string_view sender = {};  // the key that lists it
  // The key is a domain's, a mailing list's or a signer's. Who can send by it is not known, so it has no floor.
  bool is_shared = false;
  std::string_view address = {};  // of the sender, where another key lists it; else empty
  std::string_view message_id = {};                   // empty: it has none
  std::span<const std::string_view> recipients = {};  // none: they are not known
};

class Brake {
 public:
  static constexpr std::uint64_t kMostAnHour = 10;
  using Now = std::function<std::chrono::system_clock::time_point()>;

  // `now` is for tests, and is called from any thread.
  Brake(BrakeRules rules, std::shared_ptr<spdlog::logger> log, Now now = nullptr);
  ~Brake();
  Brake(const Brake&) = delete;
  Brake& operator=(const Brake&) = delete;

  // Reads the file, and begins to keep it. Until then nothing is held.
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

  // A message that its sender has proven was spam; `message` says in words of the log which one. The sender is suspended
  // soon. Throws std::bad_alloc.
  void suspend(CountedNames names, std::string message);

  struct Status {
    bool is_on = false;
    // Until then it only observes; nothing: it holds.
    std::optional<std::chrono::system_clock::time_point> observes_until = {};
    std::uint64_t senders = 0;  // that are counted
    std::uint64_t bytes = 0;    // of memory that they take
    std::uint64_t held = 0;     // messages, since the start
    std::uint64_t noticed = 0;  // messages that would have been held, while it observes
    std::string fault = {};     // of the file, in words for a person; empty: nothing is wrong
    std::uint64_t suspended = 0;         // entries that are suspended now
    std::uint64_t suspensions = 0;       // by this process, since its start
    bool suspends_no_more = false;       // in this hour: it has suspended its most
    std::string suspensions_fault = {};  // of their file
  };
  Status status() const;

 private:
  using SystemClock = std::chrono::system_clock;
  struct Spam {
    CountedNames names;
    std::string message;
  };

  void run();
  void look_for_suspensions();
  void suspend_waiting();
  void suspend_one(const Spam& spam);
  bool may_suspend_another();
  void put_suspensions(const Suspensions& all);
  bool is_suspended(const CountedMessage& message) const;
  bool is_suspended(std::string_view entry, std::chrono::sys_seconds now) const;
  std::chrono::sys_seconds seconds() const;
  void note_suspensions_fault(const std::string& what);
  void load();
  void save();
  void note_fault(const std::string& what);
  HalfHours now() const;
  SenderCounts::Rules rules_of(bool is_shared, HalfHours now) const;
  bool is_observing(HalfHours now) const noexcept;

  const std::shared_ptr<spdlog::logger> log_;
  const Now now_;
  const std::string path_;
  const std::string suspensions_path_;
  std::atomic<bool> is_on_, may_suspend_;
  std::atomic<std::uint32_t> most_messages_, most_recipients_, observed_days_;
  std::atomic<std::uint64_t> held_{0}, noticed_{0};

  // Both are set by start().
  CountsOrigin origin_;
  bool is_damaged_ = false;
  BusiestSenders senders_;

  mutable std::mutex mutex_;  // for what follows
  Replays replays_;
  std::string fault_;
  std::map<std::string, std::optional<std::chrono::sys_seconds>, std::less<>> suspended_;  // until when
  std::vector<Spam> spam_;  // whose senders are to be suspended
  std::string suspensions_fault_;
  std::uint64_t suspensions_ = 0;
  bool suspends_no_more_ = false;
  bool is_stopping_ = false;
  std::condition_variable wakeup_;

  // The thread's own.
  std::optional<FileStamp> suspensions_seen_;
  std::chrono::sys_seconds hour_began_{};
  std::uint64_t suspended_in_hour_ = 0;

  std::thread thread_;
};

}  // namespace bloomgate
