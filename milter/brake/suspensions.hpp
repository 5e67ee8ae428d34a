// Senders who are checked for a while, since mail that they have proven to be theirs was spam. Kept in a text file,
// which the daemon and `bloomgate-milter suspended` edit: each change is made to the file, under a lock of its folder,
// so all who share the file share what it says.
//
// A sender may be suspended for one user of ours alone, who has moved a message of that sender to Junk.
//
// A line for each: the entry, the time until which it holds (seconds of Unix time; 0: until a person clears it), the
// times of the last week at which it was suspended, with commas, and that user, if it is for one. Fields are parted by
// tabs, which no entry has. Lines that begin with "# " are remarks: no entry begins so.
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
  std::string user = {};                               // for whom: a canonical address; empty: for all

  bool is_of(std::string_view its_entry, std::string_view its_user) const noexcept {
    return entry == its_entry && user == its_user;
  }
  bool holds(std::chrono::sys_seconds now) const noexcept { return !until || now < *until; }
  friend bool operator==(const Suspension&, const Suspension&) = default;
};

using Suspensions = std::vector<Suspension>;

// How long the first suspension holds. The second one within a week holds until a person clears it.
inline constexpr std::chrono::hours kSuspendedFor{24};
// So many addresses of one domain that are suspended at once suspend the entry that lists them.
inline constexpr std::size_t kAddressesOfEntry = 3;

// A user has so many senders suspended at most, and the oldest of them make room; all users together have so many.
inline constexpr std::size_t kMostOfUser = 100;
inline constexpr std::size_t kMostOfUsers = 10'000;

// Whether the address is one of those of a domain entry.
bool is_of_domain_entry(std::string_view address, std::string_view entry) noexcept;

// Whether what is suspended is the sender of that name, or has its whole domain.
bool covers(const Suspension& suspension, std::string_view name) noexcept;

// For a person: "joe@example.org", or "joe@example.org > ann@ours.example".
std::string shown_name(std::string_view entry, std::string_view user);

// Null: it is not there.
const Suspension* find_suspension(const Suspensions& all, std::string_view entry, std::string_view user = {}) noexcept;

// Suspends the entry anew. Returns the entries that are suspended now and were not before: none, it, or also
// `listed_by` (a domain entry; may be empty) where enough of its addresses are.
std::vector<std::string> suspend(Suspensions& all, const std::string& entry, const std::string& listed_by,
                                 std::chrono::sys_seconds now);

enum class SuspendedForUser { now, before, no_room };
// The same for one user: `sender` and `user` are canonical.
SuspendedForUser suspend_for_user(Suspensions& all, const std::string& sender, const std::string& user,
                                  std::chrono::sys_seconds now);

// Reads the text of such a file, and makes it. `path` is for the message. Throws BloomgateError{bad_input}, which names
// the line.
Suspensions parse_suspensions(std::string_view text, const std::string& path);
std::string suspensions_text(const Suspensions& all);

// None where there is no file. Throws BloomgateError{cannot_open, cannot_read, bad_input}; the message names the
// line.
Suspensions read_suspensions(const std::string& path);

// Reads the file, has `change` change what it says, and puts the result in its place; what holds no more and is of
// longer ago than a week goes. Throws as read_suspensions(), and BloomgateError{cannot_write, not_permitted}.
void edit_suspensions(const std::string& path, std::chrono::sys_seconds now,
                      const std::function<void(Suspensions&)>& change);

}  // namespace bloomgate
