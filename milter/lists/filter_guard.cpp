#include "milter/lists/filter_guard.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/system/held_signals.hpp"
#include "milter/lists/inotify_events.hpp"

namespace bloomgate {
namespace {

// The last two may come without a write; then the file's own times decide.
constexpr std::uint32_t kChangesOfFile = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;

std::chrono::steady_clock::duration interval_of(std::uint64_t bytes_per_hour) {
  using Duration = std::chrono::steady_clock::duration;
  if (bytes_per_hour == 0) return Duration::zero();
  const double seconds = 3600.0 * static_cast<double>(kChecksumChunkBytes) / static_cast<double>(bytes_per_hour);
  return std::max(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)), Duration(1));
}

// Notes damage of a store that was `surely` written to, or that may have been.
void note_write_to_store(const LoadedFilter& filter, bool surely) noexcept {
  if (filter.store() == nullptr) return;
  if (surely || !filter.store()->is_unchanged()) filter.note_damage(Damage::store_written_to);
}

}  // namespace

FilterGuard::FilterGuard(std::uint64_t bytes_per_hour, std::function<void()> on_damage)
    : on_damage_(std::move(on_damage)),
      interval_(interval_of(bytes_per_hour)),
      inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      next_check_(Clock::now() + interval_) {
  if (!wakeup_.is_open()) {
    throw BloomgateError(ErrorCode::no_system_resource,
                         "cannot make an eventfd: " + std::generic_category().message(errno));
  }
  const HeldSignals held;
  thread_ = std::thread([this] { run(); });
}

FilterGuard::~FilterGuard() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(wakeup_.get(), &one, sizeof one));  // cannot fail: the counter is far from full
  thread_.join();
}

std::vector<std::string> FilterGuard::watch(Filters filters) {
  std::vector<std::string> failed;
  std::vector<Watched> old;
  const std::lock_guard lock(mutex_);
  watched_.swap(old);
  next_filter_ = next_chunk_ = 0;
  // Before the new ones are added: writes from before a file was loaded again then have another watch number.
  for (Watched& each : old) end_watches(each);
  for (auto& filter : filters) {
    if (filter == nullptr) continue;
    const StoreFile* const store = filter->store();
    const int number = add_watch(filter->file().descriptor());
    const int store_number = store == nullptr ? -1 : add_watch(store->descriptor());
    if (number < 0) failed.push_back(filter->path());
    if (store != nullptr && store_number < 0) failed.push_back(store->path());
    if (store != nullptr && !store->is_unchanged()) filter->note_damage(Damage::store_written_to);
    report(*filter);  // writes since it was loaded
    watched_.push_back({std::move(filter), number, store_number});
  }
  return failed;
}

int FilterGuard::add_watch(int descriptor) noexcept {
  // By the descriptor: the path may lead to another file by now.
  std::array<char, 32> file = {};
  constexpr std::string_view kFolder = "/proc/self/fd/";
  std::to_chars(std::ranges::copy(kFolder, file.begin()).out, file.end(), descriptor);
  return inotify_add_watch(inotify_.get(), file.data(), kChangesOfFile);
}

void FilterGuard::end_watches(Watched& watched) noexcept {
  for (int* const number : {&watched.watch, &watched.store_watch}) {
    if (*number >= 0) inotify_rm_watch(inotify_.get(), *number);
    *number = -1;
  }
}

void FilterGuard::run() {
  for (;;) {
    wait();
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
    }
    take_events();
    if (interval_ == Clock::duration::zero() || Clock::now() < next_check_) continue;
    check_next_chunk();
    // Not from the time at which it was due: a machine that was asleep has nothing to catch up on.
    next_check_ = Clock::now() + interval_;
  }
}

void FilterGuard::wait() noexcept {
  int milliseconds = -1;
  if (interval_ != Clock::duration::zero()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_check_ - Clock::now()).count();
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  std::array<pollfd, 2> posted = {pollfd{.fd = wakeup_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = inotify_.get(), .events = POLLIN, .revents = 0}};
  poll(posted.data(), posted.size(), milliseconds);
}

void FilterGuard::take_events() {
  for_each_inotify_event(inotify_.get(), [this](const inotify_event& event, const char* /*name*/) {
    const std::lock_guard lock(mutex_);
    for (Watched& each : watched_) {
      const bool all = (event.mask & IN_Q_OVERFLOW) != 0;  // events were lost
      const bool is_of_store = each.store_watch == event.wd;
      if (each.watch != event.wd && !is_of_store && !all) continue;
      if (is_of_store || all) note_write_to_store(*each.filter, (event.mask & IN_MODIFY) != 0);
      if (each.watch == event.wd && (event.mask & IN_MODIFY) != 0) each.filter->note_damage(Damage::written_to);
      // A writer that continues need not wake us again. `report` must not be called twice: a write between the two
      // calls would end the watch, and no report would follow.
      if (report(*each.filter)) end_watches(each);
    }
  });
}

bool FilterGuard::report(const LoadedFilter& filter) const {
  const bool is_damaged = filter.damaged();
  if (is_damaged && filter.first_to_report_damage()) on_damage_();
  return is_damaged;
}

void FilterGuard::check_next_chunk() {
  std::shared_ptr<const LoadedFilter> filter;
  std::uint64_t chunk = 0;
  {
    const std::lock_guard lock(mutex_);
    if (watched_.empty()) return;
    filter = watched_[next_filter_].filter;
    chunk = next_chunk_;
    if (++next_chunk_ >= filter->file().chunk_count()) {
      next_chunk_ = 0;
      next_filter_ = (next_filter_ + 1) % watched_.size();
    }
  }
  if (filter->damaged() || filter->file().chunk_is_sound(chunk)) {
    report(*filter);
    return;
  }
  filter->note_damage(Damage::spoiled);
  report(*filter);
}

}  // namespace bloomgate
