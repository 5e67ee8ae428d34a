#include "milter/brake/suspensions.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

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
constexpr std::string_view kPairMark = " > ";
constexpr std::string_view kHeading =
    "# Senders whose mail is checked for a while. Edit it by bloomgate-milter suspended list|add|clear.\n";

// The text up to the separator, which goes, too.
std::string_view take_field(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

std::optional<sys_seconds> time_of(std::string_view text) noexcept {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  // Until the year 9999, so that no sum of times wraps.
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
  while (!line.empty()) {
    const std::optional<sys_seconds> time = time_of(take_field(line, ','));
    if (!time) return {};
    made.times.push_back(*time);
  }
  return made;
}

// Returns whether it was not suspended before.
bool suspend_one(Suspensions& all, const std::string& entry, sys_seconds now) {
  auto found = std::ranges::find(all, entry, &Suspension::entry);
  const bool is_new = found == all.end() || !found->holds(now);
  if (found == all.end()) found = all.insert(found, {.entry = entry, .until = now});
  std::erase_if(found->times, [now](sys_seconds time) { return time + kRemembered <= now; });
  // One that holds already is not the second one.
  if (!is_new) return false;
  found->times.push_back(now);
  found->until = now + kSuspendedFor;
  if (found->times.size() >= kTimesUntilCleared) found->until.reset();
  return true;
}

// Erases the oldest of those that end so, until fewer than `most` are left.
void make_room(Suspensions& all, std::string_view end, std::size_t most) {
  const auto is_one = [end](const Suspension& each) { return is_of_user(each.entry) && each.entry.ends_with(end); };
  for (auto count = std::ranges::count_if(all, is_one); static_cast<std::size_t>(count) >= most; --count) {
    all.erase(std::ranges::find_if(all, is_one));
  }
}

// Root's files in the folder belong to the daemon, as the folder does.
void give_to_owner_of_folder(int file, const std::string& path) {
  struct stat status = {};
  if (geteuid() != 0 || stat(folder_of(path).c_str(), &status) != 0) return;
  if (fchown(file, status.st_uid, status.st_gid) != 0) throw replacement_error("give away", path, errno);
}

// Held as long as the object lives. A file of its own, which no other user can open: a lock of the folder, anybody
// could hold who may look into it.
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
    if (line.empty() || line.starts_with('#')) continue;
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
    text.append("\n");
  }
  return text;
}

bool is_of_user(std::string_view entry) noexcept {
  return entry.find(kPairMark) != std::string_view::npos;
}

SuspensionSides sides_of_suspension(std::string_view entry) noexcept {
  const std::size_t at = entry.rfind(kPairMark);
  if (at == std::string_view::npos) return {entry, {}};
  return {entry.substr(0, at), entry.substr(at + kPairMark.size())};
}

std::string pair_of(std::string_view sender, std::string_view user) {
  return std::string(sender).append(kPairMark).append(user);
}

bool is_of_domain_entry(std::string_view address, std::string_view entry) noexcept {
  if (is_of_user(address)) return false;
  const std::size_t at = address.rfind('@');
  if (at == 0 || at == std::string_view::npos) return false;
  const std::string_view domain = address.substr(at + 1);
  if (!entry.starts_with("@.")) return address.substr(at) == entry;
  entry.remove_prefix(2);
  return domain == entry || (domain.ends_with(entry) && domain[domain.size() - entry.size() - 1] == '.');
}

const Suspension* find_suspension(const Suspensions& all, std::string_view entry) noexcept {
  const auto found = std::ranges::find(all, entry, &Suspension::entry);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> suspend(Suspensions& all, const std::string& entry, const std::string& listed_by,
                                 sys_seconds now) {
  std::vector<std::string> suspended;
  if (suspend_one(all, entry, now)) suspended.push_back(entry);
  if (listed_by.empty() || listed_by == entry) return suspended;
  const auto of_entry = std::ranges::count_if(
      all, [&](const Suspension& each) { return each.holds(now) && is_of_domain_entry(each.entry, listed_by); });
  if (static_cast<std::size_t>(of_entry) >= kAddressesOfEntry && suspend_one(all, listed_by, now)) {
    suspended.push_back(listed_by);
  }
  return suspended;
}

// New ones come last, so the first one is the oldest.
bool suspend_for_user(Suspensions& all, std::string_view sender, std::string_view user, sys_seconds now) {
  const std::string entry = pair_of(sender, user);
  if (find_suspension(all, entry) == nullptr) {
    make_room(all, pair_of("", user), kMostOfUser);
    make_room(all, "", kMostOfUsers);
  }
  return suspend_one(all, entry, now);
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
