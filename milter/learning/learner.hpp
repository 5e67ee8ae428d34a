// Learns from outgoing mail: the people to whom a local user writes are listed for that user from the next message on.
// Sessions report outgoing messages to it and look senders up in it. A separate thread reads the database at the start,
// writes new pairs to it, and loads what others change in it: `bloomgate learned forget`, or another daemon.
//
// What other hosts have learned and share is looked up, too, even if nothing is learned here (LearnedElsewhere).
//
// No session waits for the database. What a session reports goes into memory and into a bounded queue; what does not
// fit is not learned, and is counted. If the database cannot be opened, read or written, nothing more is learned, and
// the thread tries again; pairs in memory stay listed meanwhile. Each of these events is logged once.
//
// Safe from any thread, except start(), stop() and set_rules(), which only the main thread calls.
#pragma once

#include <spdlog/fwd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "filter/learned/learned_file.hpp"
#include "filter/learned/learned_use.hpp"
#include "milter/learning/hourly_rates.hpp"
#include "milter/learning/known_pairs.hpp"
#include "milter/learning/learned_elsewhere.hpp"
#include "milter/learning/outgoing.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

struct LearnRules {
  std::string path = {};  // of the database; empty: nothing is learned here
  std::chrono::days keep{180};
  LessonRules lesson = {};
  std::uint64_t per_hour = 100;         // entries, for each login
  std::uint64_t exempt_per_hour = 100;  // for each client in an exempt network
  ElsewhereRules elsewhere = {};        // what other hosts have learned

  bool is_on() const noexcept { return !path.empty(); }
  bool hears() const noexcept { return !elsewhere.hosts.empty(); }
  // Pairs that were last used before that day are no longer listed.
  LearnedDay first_kept_day(LearnedDay today) const noexcept { return today - keep + std::chrono::days(1); }
};

// Today, in UTC.
LearnedDay utc_day() noexcept;

class Learner : public LearnedSenders {
 public:
  using Today = std::function<LearnedDay()>;

  // `seed` keys the hashes in memory. `today` may be called from any thread. Both are for tests. Learning begins with
  // start().
  Learner(LearnRules rules, std::shared_ptr<spdlog::logger> log, std::uint64_t seed = random_seed(),
          Today today = nullptr);
  ~Learner() override;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // The learner's thread calls `on_change` when learning has stopped, and when it resumes; may be empty.
  void start(std::function<void()> on_change = nullptr);
  // Writes the queue first, if the database can be written to.
  void stop();

  // Applies from the next message on. If the file is another one, its pairs are known once it has been read.
  void set_rules(LearnRules rules);

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  // Whether look-ups can find anything, learned here or elsewhere.
  bool may_know() const noexcept { return is_on() || hears_.load(std::memory_order_relaxed); }
  LessonRules lesson_rules() const;

  bool is_learned(std::string_view user, std::string_view sender) const noexcept override;
  bool has_sender_domain(std::string_view domain) const noexcept override;

  // What each message stores when it begins.
  LearnedBegin begin_message() const noexcept;

  // The daemon has accepted a message of that login. If the lesson names a client in an exempt network, the rates of
  // both that client and the user apply. Nothing is learned about a correspondent who was forgotten after the message
  // began. `queue_id` is as in the log. Throws std::bad_alloc.
  void learn(const Lesson& lesson, std::string_view login, const LearnedBegin& began, std::string_view queue_id = "-");

  // A message to the user was delivered because the pair is learned: the pair's lifetime starts again today. This host
  // then stores the pair, even if another one has learned it. Throws std::bad_alloc.
  void renew(std::string_view user, std::string_view sender);

  struct Status {
    bool is_on = false;
    bool is_ready = false;    // the database was read, and can be written to
    std::string fault = {};   // why it is not ready, in words for a person; empty: no fault
    std::uint64_t pairs = 0;  // in memory
    std::uint64_t bytes = 0;  // memory that the pairs occupy
    // Counts since the start:
    std::uint64_t learned = 0;            // pairs that were new
    std::uint64_t renewed = 0;            // known pairs that were used again, once a day each
    std::uint64_t over_rate = 0;          // not learned: a login had reached its limit for the hour
    std::uint64_t over_exempt_rate = 0;   // not learned: a client in an exempt network had reached its limit
    std::uint64_t no_room = 0;            // not learned: the queue was full, or the database had its maximum size
    std::uint64_t not_stored = 0;         // not learned: the database was unusable
    std::vector<HeardStatus> heard = {};  // of other hosts
  };
  Status status() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Contact = LearnedFile::Contact;

  void run();
  void work();
  void open();
  void read_all();
  void read_forgets();
  void read_news();
  void write_queue();
  void use_file();
  void expire();
  void note_fault(const std::string& what);
  void wait_for_work();
  void turn_off();
  KnownPairs::Day oldest_day() const;
  // Whether the last day that `find` returns is recent enough.
  template <typename Find>
  bool is_kept(Find find) const noexcept;
  bool enqueue(Contact contact);
  // By how much one message has exceeded a rate, for the log.
  struct Excess {
    std::string_view rate;  // the option
    std::string_view question;
    std::uint64_t per_hour = 0;
    std::uint64_t left_out = 0;
    bool is_first = false;  // within the hour
    void add(HourlyRates::Answer answer) noexcept {
      ++left_out;
      is_first = is_first || answer == HourlyRates::Answer::first_over;
    }
  };
  bool may_learn_another(const Lesson& lesson, std::string_view who, Excess& of_login, Excess& of_client);
  void log_excess(const Excess& excess, std::string_view queue_id, std::string_view who) const;

  const std::shared_ptr<spdlog::logger> log_;
  const std::uint64_t seed_;
  const Today today_;
  std::function<void()> on_change_;
  std::atomic<bool> is_on_;
  std::atomic<bool> hears_;
  std::atomic<std::int64_t> known_forgets_{0};

  // Sessions hold this mutex while they add a pair to memory and to the queue.
  mutable std::mutex mutex_;
  std::condition_variable wakeup_;
  LearnRules rules_;
  std::shared_ptr<KnownPairs>
      known_;                  // never null; another one takes its place when the file is read from its beginning
  std::deque<Contact> queue_;  // not written yet
  Forgets forgets_;
  HourlyRates rates_;         // of logins
  HourlyRates exempt_rates_;  // of clients in exempt networks, and of the users whom they name
  Status status_;
  bool must_reopen_ = false;
  bool has_new_rules_ = true;
  bool is_stopping_ = false;
  LearnedElsewhere elsewhere_;

  // The members below are used by the learner's thread only.
  std::unique_ptr<LearnedFile> file_;
  std::optional<LearnedUse> use_;  // as long as pairs of the file are in memory
  LearnedFile::Changes seen_;
  std::int64_t version_ = 0;
  KnownPairs::Day expired_until_ = 0;
  Clock::time_point retry_at_ = Clock::time_point::min();
  std::thread thread_;
};

}  // namespace bloomgate
