// Senders whose mail is checked for a while, since mail that is proven to be theirs was spam. They are stored in a text
// file, which the daemon and `bloomgate-milter suspended` edit. Each change is made in the file, under a lock of its
// folder, so all programs that share the file see the same suspensions.
//
// A sender may be suspended for a single local user, who has moved a message from that sender to Junk.
//
// The file has a line for each suspension, with fields separated by tabs, which no entry contains: the entry; the time
// until which it holds (seconds of Unix time; 0: until a person clears it); the times of the last week at which it was
// suspended, separated by commas; and the user, if it is for one user only. Lines that begin with "# " are comments: no
// entry begins so.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct Suspension {
  std::string entry;  // the canonical key of an address, a domain entry or a mailing list
  std::optional<std::chrono::sys_seconds> until = {};  // nothing: until a person clears it
  std::vector<std::chrono::sys_seconds> times = {};    // of the last week, the newest last
  std::string user = {};                               // for whom it holds: a canonical address; empty: for all

  bool is_of(std::string_view its_entry, std::string_view its_user) const noexcept {
    return entry == its_entry && user == its_user;
  }
  bool holds(std::chrono::sys_seconds now) const noexcept { return !until || now < *until; }
  friend bool operator==(const Suspension&, const Suspension&) = default;
};

using Suspensions = std::vector<Suspension>;

// How long the first suspension holds. The second one within a week holds until a person clears it.
inline constexpr std::chrono::hours kSuspendedFor{24};
// If so many addresses of one domain are suspended at once, the entry that lists them is suspended, too.
inline constexpr std::size_t kAddressesOfEntry = 3;

// The limits on senders that are suspended for a single user: for each user, where the oldest suspensions make room for
// new ones, and for all users together.
inline constexpr std::size_t kMostOfUser = 100;
inline constexpr std::size_t kMostOfUsers = 10'000;

// Whether the entry of a domain covers the address, or that of a tree of mailing lists (`list:*.`) the mailing list.
bool is_of_wide_entry(std::string_view name, std::string_view entry) noexcept;

// Whether the suspended entry is the sender of that name, or covers it.
bool covers(const Suspension& suspension, std::string_view name) noexcept;

// For a person: "joe@example.org", or "joe@example.org > ann@ours.example".
std::string shown_name(std::string_view entry, std::string_view user);

// Null if there is none.
const Suspension* find_suspension(const Suspensions& all, std::string_view entry, std::string_view user = {}) noexcept;

// Suspends the entry again. Returns the entries that this call has newly suspended: none; the entry; or also
// `listed_by` (a domain entry; may be empty) if enough of its addresses are suspended.
std::vector<std::string> suspend(Suspensions& all, const std::string& entry, const std::string& listed_by,
                                 std::chrono::sys_seconds now);

enum class SuspendedForUser { now, before, no_room };
// The same for one user: `sender` and `user` are canonical.
SuspendedForUser suspend_for_user(Suspensions& all, const std::string& sender, const std::string& user,
                                  std::chrono::sys_seconds now);

// Parse and write the text of such a file. `path` is for the error message. Throws BloomgateError{bad_input}, which
// names the line.
Suspensions parse_suspensions(std::string_view text, const std::string& path);
std::string suspensions_text(const Suspensions& all);

// Returns none if there is no file. Throws BloomgateError{cannot_open, cannot_read, bad_input}; the message names the
// line.
Suspensions read_suspensions(const std::string& path);

// Reads the file, lets `change` edit its content, and replaces the file with the result. Removes suspensions that no
// longer hold and are older than a week. Throws as read_suspensions() does, and BloomgateError{cannot_write,
// not_permitted}.
void edit_suspensions(const std::string& path, std::chrono::sys_seconds now,
                      const std::function<void(Suspensions&)>& change);

}  // namespace bloomgate
