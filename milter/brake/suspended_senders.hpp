// The senders who are suspended now, as the daemon knows them: from the file (suspensions.hpp), which others edit, too,
// and from what the checker says of samples of delivered mail and of mail that was held.
//
// What suspends whom: one message that is spam suspends who sends less than 1,000 messages a day. Of who sends more,
// two within a day do, and from 10,000 on three: a checker calls one message in some thousands spam by mistake, and for
// who sends much that must not be enough.
//
// A checker that is wrong must not turn the whitelist off. No sender is suspended for an hour once the checker has
// called kSuspect of the last kLast samples spam, each of another sender; or once kMostAnHour were suspended within an
// hour, or one in a thousand of those that are counted.
//
// Safe from any thread; suspend() and look(), which use the disk, by one at a time.
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

// Whose a message is, by the names of lists.
struct CountedNames {
  std::string sender = {};   // the key that lists it
  std::string address = {};  // of the sender, where another key lists it; else empty

  // What is suspended first.
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

  // Whether either is suspended, by itself or by its domain; both may be empty.
  bool has(std::string_view sender, std::string_view address, Time now) const;

  // The same for one of the users, which are canonical addresses.
  bool has_for_user(std::string_view sender, std::string_view address, std::span<const std::string> users,
                    Time now) const;
  // Whether anything is suspended for a user, so that the function above is to be asked.
  bool is_any_for_user() const;

  // Takes in what others have changed in the file. What is in memory holds as long as the file cannot be read.
  void look();

  // What a checker says of a message that its sender has proven.
  struct Opinion {
    CountedNames names = {};
    bool is_spam = false;
    bool is_sample = true;     // of what is delivered; false: it was held
    std::string message = {};  // which one, in words of the log
  };
  // `a_day` is how many messages that sender sends in a day, and `counted` how many senders there are.
  void take(const Opinion& opinion, std::uint64_t a_day, std::uint64_t counted, Time now);

  struct Status {
    std::uint64_t suspended = 0;    // entries that are suspended now, for all users
    std::uint64_t for_user = 0;     // and for one
    std::uint64_t suspensions = 0;  // made here
    bool is_stopped = false;        // no sender is suspended now
    std::string fault = {};         // of the file, in words for a person
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

  mutable std::mutex mutex_;  // for what follows
  Until until_;               // of entries
  Until until_for_user_;      // of entries, each with a user
  std::uint64_t suspensions_ = 0;
  std::optional<Time> stopped_until_;
  std::string fault_;

  // Of who calls take() and look().
  std::optional<FileStamp> seen_;
  std::map<std::string, Time> unsaved_;               // until when
  std::map<std::string, std::vector<Time>> spam_of_;  // within a day, of those who need more than one
  std::array<Opinion, kLast> last_ = {};              // each of another sender; the oldest is at next_
  std::size_t next_ = 0;
  Time hour_began_{};
  std::uint64_t in_hour_ = 0;
};

}  // namespace bloomgate
