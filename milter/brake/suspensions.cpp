#include "milter/brake/suspensions.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>
#include <tuple>

#include "filter/address/entry_forms.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

using std::chrono::sys_seconds;

constexpr std::chrono::days kRemembered{7};
constexpr std::size_t kTimesUntilCleared = 2;
// Another edit takes some milliseconds.
constexpr int kMostTries = 200;
constexpr std::chrono::milliseconds kBetweenTries{20};
constexpr std::string_view kHeading =
    "# Senders whose mail is checked for a while. Edit it by bloomgate-milter suspended list|add|clear.\n";

// Removes and returns the text up to the separator; the separator is removed, too.
std::string_view take_field(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

std::optional<sys_seconds> time_of(std::string_view text) noexcept {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  // Limited to the year 9999, so that no sum of times overflows.
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > 253'402'300'799) return {};
  return sys_seconds(std::chrono::seconds(seconds));
}

std::optional<Suspension> suspension_of(std::string_view line) {
  Suspension made;
  made.entry = take_field(line, '\t');
  const std::optional<sys_seconds> until = time_of(take_field(line, '\t'));
  if (made.entry.find('@') == std::string::npos && !made.entry.starts_with("list:")) return {};
  if (!until) return {};
  if (until->time_since_epoch().count() != 0) made.until = until;
  std::string_view times = take_field(line, '\t');
  while (!times.empty()) {
    const std::optional<sys_seconds> time = time_of(take_field(times, ','));
    if (!time) return {};
    made.times.push_back(*time);
  }
  made.user = line;
  if (!made.user.empty() && made.user.find('@') == std::string::npos) return {};
  return made;
}

// Returns whether the entry was not suspended before.
bool suspend_one(Suspensions& all, const std::string& entry, sys_seconds now, const std::string& user = {}) {
  auto found = std::ranges::find_if(all, [&](const Suspension& each) { return each.is_of(entry, user); });
  const bool is_new = found == all.end() || !found->holds(now);
  if (found == all.end()) found = all.insert(found, {.entry = entry, .until = now, .times = {}, .user = user});
  std::erase_if(found->times, [now](sys_seconds time) { return time + kRemembered <= now; });
  // A suspension that is still valid does not count as a second one.
  if (!is_new) return false;
  found->times.push_back(now);
  found->until = now + kSuspendedFor;
  if (found->times.size() >= kTimesUntilCleared) found->until.reset();
  return true;
}

// How many suspensions there are for one user, or for all single users if `user` is empty.
std::size_t count_of(const Suspensions& all, std::string_view user) {
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [user](const Suspension& each) { return !each.user.empty() && (user.empty() || each.user == user); }));
}

// Erases the user's oldest suspension that ends by itself, or if there is none the oldest.
void erase_oldest_of(Suspensions& all, std::string_view user) {
  const auto age = [&](const Suspension& each) {
    return std::tuple(each.user != user, !each.until, each.times.empty() ? sys_seconds() : each.times.back());
  };
  const auto oldest = std::ranges::min_element(all, {}, age);
  if (oldest != all.end() && oldest->user == user) all.erase(oldest);
}

// Files that root creates in the folder get the folder's owner, which is the daemon's user.
void give_to_owner_of_folder(int file, const std::string& path) {
  struct stat status = {};
  if (geteuid() != 0 || stat(folder_of(path).c_str(), &status) != 0) return;
  if (fchown(file, status.st_uid, status.st_gid) != 0) throw replacement_error("give away", path, errno);
}

// The lock is held as long as the object lives. It is a separate file, which no other user can open: any user who may
// read the folder could hold a lock on the folder.
FileDescriptor lock_of(const std::string& path) {
  const std::string name = folder_of(path) + "/" + hidden_prefix(path, ".lock");
  FileDescriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status = {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) throw replacement_error("open", name, errno);
  if (S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_size == 0 && status.st_uid == 0) {
    give_to_owner_of_folder(file.get(), name);
  }
  for (int tries = 0; flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EINTR && errno != EWOULDBLOCK) throw replacement_error("lock", name, errno);
    if (tries == kMostTries) throw replacement_error("lock", name, EWOULDBLOCK);
    std::this_thread::sleep_for(kBetweenTries);
  }
  return file;
}

void put(const std::string& path, const Suspensions& all) {
  const bool is_new = access(path.c_str(), F_OK) != 0;
  Replacement file(path, folder_of(path) + "/" + hidden_prefix(path, ".new"), 0640);
  file.write(suspensions_text(all));
  if (is_new) give_to_owner_of_folder(file.descriptor(), path);
  file.put_in_place();
}

}  // namespace

Suspensions parse_suspensions(std::string_view text, const std::string& path) {
  Suspensions all;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_field(text, '\n');
    if (line.empty() || line.starts_with("# ")) continue;
    std::optional<Suspension> one = suspension_of(line);
    if (!one) {
      throw BloomgateError(ErrorCode::bad_input,
                           "'" + printable(path) + "', line " + std::to_string(number) +
                               " is no suspension; remove the line, and add the sender again",
                           {.path = path});
    }
    all.push_back(*std::move(one));
  }
  return all;
}

std::string suspensions_text(const Suspensions& all) {
  std::string text(kHeading);
  for (const Suspension& each : all) {
    text.append(each.entry).append("\t");
    text.append(std::to_string(each.until ? each.until->time_since_epoch().count() : 0)).append("\t");
    std::string_view before;
    for (const sys_seconds time : each.times) {
      text.append(before).append(std::to_string(time.time_since_epoch().count()));
      before = ",";
    }
    if (!each.user.empty()) text.append("\t").append(each.user);
    text.append("\n");
  }
  return text;
}

bool is_of_wide_entry(std::string_view name, std::string_view entry) noexcept {
  std::string_view domain;
  if (name.starts_with(kMailingListPrefix)) {
    if (!entry.starts_with(kMailingListPrefix)) return false;
    domain = name.substr(kMailingListPrefix.size());
    entry.remove_prefix(kMailingListPrefix.size());
    if (!entry.starts_with("*.")) return false;
  } else {
    const std::size_t at = name.rfind('@');
    if (at == 0 || at == std::string_view::npos) return false;
    if (!entry.starts_with("@.")) return name.substr(at) == entry;
    domain = name.substr(at + 1);
  }
  entry.remove_prefix(2);
  return domain == entry || (domain.ends_with(entry) && domain[domain.size() - entry.size() - 1] == '.');
}

bool covers(const Suspension& suspension, std::string_view name) noexcept {
  return suspension.entry == name || is_of_wide_entry(name, suspension.entry);
}

std::string shown_name(std::string_view entry, std::string_view user) {
  std::string name(entry);
  if (!user.empty()) name.append(" > ").append(user);
  return name;
}

const Suspension* find_suspension(const Suspensions& all, std::string_view entry, std::string_view user) noexcept {
  const auto found = std::ranges::find_if(all, [&](const Suspension& each) { return each.is_of(entry, user); });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> suspend(Suspensions& all, const std::string& entry, const std::string& listed_by,
                                 sys_seconds now) {
  std::vector<std::string> suspended;
  if (suspend_one(all, entry, now)) suspended.push_back(entry);
  if (listed_by.empty() || listed_by == entry) return suspended;
  const auto of_entry = std::ranges::count_if(all, [&](const Suspension& each) {
    return each.user.empty() && each.holds(now) && is_of_wide_entry(each.entry, listed_by);
  });
  if (static_cast<std::size_t>(of_entry) >= kAddressesOfEntry && suspend_one(all, listed_by, now)) {
    suspended.push_back(listed_by);
  }
  return suspended;
}

SuspendedForUser suspend_for_user(Suspensions& all, const std::string& sender, const std::string& user,
                                  sys_seconds now) {
  if (find_suspension(all, sender, user) == nullptr) {
    if (count_of(all, user) >= kMostOfUser) {
      std::erase_if(all, [&](const Suspension& each) { return each.user == user && !each.holds(now); });
    }
    if (count_of(all, user) >= kMostOfUser) erase_oldest_of(all, user);
    if (count_of(all, {}) >= kMostOfUsers) {
      std::erase_if(all, [&](const Suspension& each) { return !each.user.empty() && !each.holds(now); });
    }
    if (count_of(all, {}) >= kMostOfUsers) return SuspendedForUser::no_room;
  }
  return suspend_one(all, sender, now, user) ? SuspendedForUser::now : SuspendedForUser::before;
}

Suspensions read_suspensions(const std::string& path) {
  try {
    return parse_suspensions(read_text(path), path);
  } catch (const BloomgateError& error) {
    if (error.code() == ErrorCode::cannot_open && access(path.c_str(), F_OK) != 0 && errno == ENOENT) return {};
    throw;
  }
}

void edit_suspensions(const std::string& path, sys_seconds now, const std::function<void(Suspensions&)>& change) {
  const FileDescriptor lock = lock_of(path);
  Suspensions all = read_suspensions(path);
  const Suspensions before = all;
  change(all);
  if (all == before) return;
  std::erase_if(all, [now](const Suspension& each) {
    return !each.holds(now) && (each.times.empty() || each.times.back() + kRemembered <= now);
  });
  put(path, all);
}

}  // namespace bloomgate
