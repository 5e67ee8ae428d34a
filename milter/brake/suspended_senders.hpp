// The senders that are suspended now. The daemon knows them from the file (suspensions.hpp), which others edit, too,
// and from what the checker says about samples of delivered mail and about mail that was held.
//
// How many spam messages suspend a sender depends on how much it sends. Below 1,000 messages a day, one is enough. From
// 1,000 on, two within a day are needed, and from 10,000 on three: a checker wrongly calls one message in some
// thousands spam, and this must not suspend a large sender.
//
// A wrong checker must not turn the whitelist off. So no sender is suspended for an hour after the checker has called
// kSuspect of the last kLast samples spam, each from a different sender. The same holds once too many were suspended
// within an hour: kMostAnHour, or one in a thousand of the counted senders if that is more.
//
// Safe from any thread. suspend() and look() use the disk; only one thread at a time may call them.
#pragma once

#include <spdlog/fwd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/system/file_stamp.hpp"
#include "milter/brake/suspensions.hpp"

namespace bloomgate {

// The names under which lists know the sender of a message.
struct CountedNames {
  std::string sender = {};   // the key that lists it
  std::string address = {};  // the sender's address if another key lists it; else empty

  // The name that is suspended first.
  const std::string& who() const noexcept { return address.empty() ? sender : address; }
};

class SuspendedSenders {
 public:
  using Time = std::chrono::sys_seconds;
  static constexpr std::size_t kLast = 20;
  static constexpr std::size_t kSuspect = 5;
  static constexpr std::uint64_t kMostAnHour = 10;

  SuspendedSenders(std::string path, std::shared_ptr<spdlog::logger> log)
      : path_(std::move(path)), log_(std::move(log)) {}

  using Names = std::span<const std::string_view>;

  // Whether one of the names is suspended, by itself or by its domain or tree of mailing lists. Each may be empty.
  bool has(Names names, Time now) const;

  // The same for at least one of the users, which are canonical addresses.
  bool has_for_user(Names names, std::span<const std::string> users, Time now) const;
  // The same for any user.
  bool has_for_some_user(Names names, Time now) const;
  // Whether anything is suspended for a single user, so that the two above need to be called.
  bool is_any_for_user() const;

  // Loads what others have changed in the file. As long as the file cannot be read, the state in memory remains valid.
  void look();

  // What a checker says about a message whose sender is proven.
  struct Opinion {
    CountedNames names = {};
    bool is_spam = false;
    bool is_sample = true;     // true: a sample of delivered mail; false: the message was held
    std::string message = {};  // the message, in the words of the log
  };
  // `a_day` is how many messages that sender sends in a day; `counted` is the number of counted senders.
  void take(const Opinion& opinion, std::uint64_t a_day, std::uint64_t counted, Time now);

  struct Status {
    std::uint64_t suspended = 0;    // entries that are suspended now for all users
    std::uint64_t for_user = 0;     // entries that are suspended now for one user
    std::uint64_t suspensions = 0;  // made by this daemon
    bool is_stopped = false;        // no sender is suspended now
    std::string fault = {};         // of the file, in words for a person; empty: there is no fault
  };
  Status status(Time now) const;

 private:
  void remember(const Opinion& sample);
  using Until = std::map<std::string, std::optional<Time>, std::less<>>;

  bool is_stopped(std::uint64_t counted, Time now);
  void stop(const std::string& why, Time now);
  bool is_enough(const std::string& sender, std::uint64_t a_day, Time now);
  void suspend(const Opinion& opinion, Time now);
  void note_fault(const std::string& what);

  const std::string path_;
  const std::shared_ptr<spdlog::logger> log_;

  mutable std::mutex mutex_;  // protects the members below
  Until until_;               // of entries
  Until until_for_user_;      // of entries, each with a user
  std::uint64_t suspensions_ = 0;
  std::optional<Time> stopped_until_;
  std::string fault_;

  // Used only by the caller of take() and look().
  std::optional<FileStamp> seen_;
  std::map<std::string, Time> unsaved_;               // until when each holds
  std::map<std::string, std::vector<Time>> spam_of_;  // within a day, of senders for which one is not enough
  std::array<Opinion, kLast> last_ = {};              // each from a different sender; the oldest is at next_
  std::size_t next_ = 0;
  Time hour_began_{};
  std::uint64_t in_hour_ = 0;
};

}  // namespace bloomgate
