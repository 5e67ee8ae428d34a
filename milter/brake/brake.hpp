// Notices a listed sender that suddenly sends much more than before: most likely an account that was taken over.
// Messages of that sender are then marked `check`, until the sender has been calm for an hour, or for a day if the
// sender exceeded the limit of a day.
//
// At first the brake only observes, and learns the usual volume (the habit) of each sender, for BrakeRules::observe
// from the creation of the file of counts. If the file is unusable, the brake observes for as long from the start of
// the daemon. If the file exists but is damaged, the brake does not observe: then no sender has a habit, and every
// sender has to stay below the floor.
//
// A sender whose proven mail was spam is suspended (suspended_senders.hpp).
//
// Safe from any thread, except start(), stop() and set_rules(), which only the main thread calls. No session waits for
// the disk: a separate thread writes the counts once an hour and at the end, writes suspensions, and looks once a
// second for suspensions that others have made. Counting a message takes about 1 µs.
#pragma once

#include <spdlog/fwd.h>

#include <array>
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
  Floor floor = {};  // if its messages are 0, nothing is counted or held
  std::chrono::days observe{28};
  std::string path = {};  // of the file of counts
  bool suspends = false;
  std::string suspensions_path = {};

  bool is_on() const noexcept { return floor.messages != 0; }
};

// What is counted: a message that is delivered unless the brake holds it.
struct CountedMessage {
  std::string_view sender = {};  // the key that lists it
  // The key is that of a domain or a mailing list. It is unknown who can send under it, so it has no floor.
  bool is_shared = false;
  std::string_view address = {};  // the sender's address, or the mailing list, if another key lists it; else empty
  std::array<std::string_view, 2> also = {};          // of which a suspension holds the message, too; empty: none
  std::string_view message_id = {};                   // empty: the message has none
  std::span<const std::string_view> recipients = {};  // empty: they are not known
  bool has_too_many_recipients = false;               // the message has too many recipients for all to be known
  TagSeparators recipient_delimiter = {};             // of the mail server
};

class Brake {
 public:
  using Now = std::function<std::chrono::system_clock::time_point()>;

  // `now` is for tests; any thread may call it.
  Brake(BrakeRules rules, std::shared_ptr<spdlog::logger> log, Now now = nullptr);
  ~Brake();
  Brake(const Brake&) = delete;
  Brake& operator=(const Brake&) = delete;

  // Reads the files. Until then no message is held.
  void begin();
  // Calls begin(), and starts the thread that writes the files from then on.
  void start();
  // Ends the thread, which writes the file of counts.
  void stop();

  // Applies from the next message on. The path stays the one given at the start.
  void set_rules(BrakeRules rules);

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

  // Whether it may hold a message.
  bool may_hold() const noexcept { return is_on() || may_suspend(); }
  bool may_suspend() const noexcept { return may_suspend_.load(std::memory_order_relaxed); }

  // Counts the message, and returns whether it is held. Throws std::bad_alloc.
  Hold count(const CountedMessage& message);

  // Whether such a message would be held now, without counting it.
  Hold state_of(const CountedMessage& message) const;

  // Reports what a checker says about a message whose sender is proven. If the sender has to be suspended, this happens
  // soon after the call. Throws std::bad_alloc.
  void tell(SuspendedSenders::Opinion opinion);
  // Loads what others have changed in the file of suspensions, and suspends senders according to the opinions reported
  // so far. The thread also does this once a second.
  void work_off();

  struct Status {
    bool is_on = false;
    // The brake only observes until this time; nothing: it holds messages.
    std::optional<std::chrono::system_clock::time_point> observes_until = {};
    std::uint64_t senders = 0;  // senders that are counted
    std::uint64_t bytes = 0;    // memory that their counts occupy
    std::uint64_t held = 0;     // messages, since the start
    std::uint64_t noticed = 0;  // messages that would have been held, if the brake did not just observe
    std::string fault = {};     // of the file, in words for a person; empty: there is no fault
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

  // begin() sets these.
  std::uint64_t seed_ = 0;  // of the hashes
  bool is_damaged_ = false;
  bool may_save_ = true;
  std::atomic<HalfHours> began_{0};  // when counting began; 0: not yet
  BusiestSenders senders_;
  SuspendedSenders suspended_;
  std::mutex working_off_;

  mutable std::mutex mutex_;  // protects the members below
  Replays replays_;
  std::string fault_;
  std::vector<SuspendedSenders::Opinion> told_;
  bool is_stopping_ = false;
  std::condition_variable wakeup_;
  std::thread thread_;
};

}  // namespace bloomgate
