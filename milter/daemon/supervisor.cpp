#include "milter/daemon/supervisor.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/keep/layer_folder.hpp"
#include "milter/learning/logger.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

// A file is loaded when nothing has changed for a moment, since editors change it in several steps. But somebody who
// keeps changing it must not delay that for ever.
constexpr std::chrono::milliseconds kQuiet{200};
constexpr std::chrono::milliseconds kLongestUnrest{2000};
constexpr std::chrono::milliseconds kLookForFolder{1000};

constexpr int kMostTriesOfPair = 3;

constexpr std::array kExactListPlaces = {
    ExactListPlace{"revoked", ListOf::senders, &ListSources::revoked, &ListParts::revoked},
    ExactListPlace{"extra", ListOf::senders, &ListSources::extra, &ListParts::extra},
    ExactListPlace{"opt-out", ListOf::recipients, &ListSources::opt_out, &ListParts::opt_out},
};

std::vector<std::string> exact_list_paths(const ListSources& sources) {
  std::vector<std::string> paths;
  for (const ExactListPlace& each : kExactListPlaces) {
    if (const std::string& path = sources.*each.path; !path.empty()) paths.push_back(path);
  }
  return paths;
}

void add_paths(const WhitelistSource& source, std::vector<std::string>& paths) {
  paths.push_back(source.path);
  if (!source.store.empty()) paths.push_back(source.store);
}

std::vector<std::string> all_paths(const ListSources& sources) {
  std::vector<std::string> paths = exact_list_paths(sources);
  for (const WhitelistSource& source : sources.whitelists) add_paths(source, paths);
  return paths;
}

std::optional<FileStamp> stamp_of(const std::string& path) noexcept {
  struct stat status = {};
  return !path.empty() && stat(path.c_str(), &status) == 0 ? std::optional(FileStamp(status)) : std::nullopt;
}

// Whether an exact list, if there is one, can be loaded.
bool can_be_read(const std::string& path, std::vector<std::string>& faults) {
  try {
    if (!path.empty()) load_exact_list(path);
    return true;
  } catch (const std::exception& error) {
    faults.push_back(printable(error.what()));
    return false;
  }
}

// Whether a file was refused for what is in it, rather than for what the daemon lacks, or for what is in another file.
bool is_about_content(ErrorCode code) {
  return code != ErrorCode::cannot_open && code != ErrorCode::out_of_memory && code != ErrorCode::too_many_mappings &&
         code != ErrorCode::bad_input;
}

std::uint64_t entries_in(const NamedFilter& named) {
  return named.filter ? entries_of(named.filter->header()) : 0;
}

// A tenth is no change of a day. Of layers in use the largest one counts: several may hold the same entries. Throws
// BloomgateError{bad_input}, which says nothing against the file in use.
void require_not_shrunken(const WhitelistSource& source, const std::vector<NamedFilter>& in_use,
                          const std::vector<NamedFilter>& loaded) {
  constexpr std::uint64_t kMostTimesFewer = 10;
  std::uint64_t before = 0;
  for (const NamedFilter& each : in_use) before = std::max(before, entries_in(each));
  std::uint64_t now = 0;
  for (const NamedFilter& each : loaded) now += entries_in(each);
  if (now >= before / kMostTimesFewer + (before % kMostTimesFewer == 0 ? 0 : 1)) return;
  throw BloomgateError(ErrorCode::bad_input,
                       fmt::format("{} has {} entries, less than a tenth of the {} in use; if that is meant, set "
                                   "allow-shrunken-whitelist = yes and reload",
                                   source.path, now, before),
                       {.path = source.path});
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What a whitelist of that name in the configuration consists of.
std::vector<NamedFilter> filters_of(std::string_view name, const std::vector<NamedFilter>& all) {
  std::vector<NamedFilter> filters;
  std::ranges::copy_if(all, std::back_inserter(filters),
                       [name](const NamedFilter& each) { return configured_name(each.name) == name; });
  return filters;
}

void give_name(const std::string& name, std::vector<NamedFilter>& filters) {
  for (NamedFilter& each : filters) each.name.replace(0, configured_name(each.name).size(), name);
}

void append(std::vector<NamedFilter>& all, std::vector<NamedFilter> filters) {
  std::ranges::move(filters, std::back_inserter(all));
}

}  // namespace

Supervisor::Supervisor(ListSources sources, ListSlot& slot, Wakeup& wakeup, const ResultsWatch& results,
                       std::shared_ptr<spdlog::logger> log, ReadSettings read_settings, Monitor* monitor)
    : sources_(std::move(sources)),
      slot_(slot),
      wakeup_(wakeup),
      results_(results),
      log_(std::move(log)),
      read_settings_(std::move(read_settings)),
      monitor_(monitor),
      watch_(exact_list_paths(sources_)),
      guard_(make_guard(sources_)) {}

std::unique_ptr<FilterGuard> Supervisor::make_guard(const ListSources& sources) const {
  return std::make_unique<FilterGuard>(sources.recheck_bytes_per_hour, [this] { wakeup_.post(Wakeup::kDamage); });
}

void Supervisor::load_first() {
  ListParts lists;
  for (const WhitelistSource& source : sources_.whitelists) {
    try {
      append(lists.whitelists, load_whitelist(source));
    } catch (const BloomgateError& error) {
      if (!sources_.allow_missing) throw;
      lists.whitelists.push_back({source.name, nullptr});
      const bool only_one = sources_.whitelists.size() == 1;
      log_->warn("starting without {}: {}",
                 only_one ? "a whitelist, all mail is sent to the deeper checks until its file is there"
                          : "whitelist " + source.name,
                 printable(error.what()));
    }
  }
  for (const ExactListPlace& each : kExactListPlaces) {
    if (const std::string& path = sources_.*each.path; !path.empty()) lists.*each.part = load_exact(each, path);
  }
  put_into_use(std::move(lists));
  check_ = FilterCheck::all_when_idle;
  look_at_folders();
  look_for_replaced();  // which may have come while the others were loaded
  tell_monitor({});
}

bool Supervisor::run() {
  notify_ready(current_status());
  for (;;) {
    const Wakeup::Events events = wakeup_.wait(watch_.descriptor(), longest_wait());
    if ((events & (Wakeup::kStop | Wakeup::kMilterEnded)) != 0) {
      notify_stopping();
      return (events & Wakeup::kMilterEnded) == 0;
    }
    handle(events);
    note_changes();
  }
}

void Supervisor::handle(Wakeup::Events events) {
  if ((events & Wakeup::kDamage) != 0) report_damage();
  if ((events & Wakeup::kResults) != 0) report_results();
  if ((events & Wakeup::kLearning) != 0) notify_status(current_status());
  if ((events & Wakeup::kReload) != 0) reload();
}

void Supervisor::note_changes() {
  const bool can_see_again = is_blind_ && watch_.refresh().empty();
  if (can_see_again) is_blind_ = false;
  if (can_see_again || (watch_.descriptor() >= 0 && watch_.take_events())) note_change();
  if (Clock::now() >= next_look_) look_for_replaced();
  if (const auto left = longest_wait(); first_change_ && left && left->count() <= 0) reload_changed();
}

void Supervisor::look_for_replaced() {
  next_look_ = Clock::now() + kLookForWhitelists;
  if (std::ranges::any_of(sources_.whitelists, [this](const auto& each) { return is_replaced(each); })) note_change();
}

void Supervisor::note_change() {
  last_change_ = Clock::now();
  if (!first_change_) first_change_ = last_change_;
}

std::optional<std::chrono::milliseconds> Supervisor::longest_wait() const {
  if (!first_change_ && is_blind_) return kLookForFolder;
  const Clock::time_point due =
      first_change_ ? std::min(last_change_ + kQuiet, *first_change_ + kLongestUnrest) : next_look_;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()), std::chrono::milliseconds(0));
}

void Supervisor::reload() {
  const std::int64_t began = monotonic_microseconds();
  notify_reloading(began);
  watch_again();
  std::vector<std::string> faults;
  std::optional<NewSettings> settings = read_again(faults);
  std::optional<ListParts> lists;
  if (settings) lists = load_again(settings->sources, faults);
  if (lists) {
    take_in(*std::move(settings));
  } else {
    lists = slot_.get()->parts();
    loaded_.clear();
  }
  // Files are watched before they are read: a change from now on counts as a new one.
  look_at_folders();
  // What is wrong with an exact list in use ends as soon as its file is good again (exact-list-lost tells of it).
  const std::string refusal = fmt::format("{}", fmt::join(faults, "; "));
  reload_exact(*lists, faults);
  put_into_use(*std::move(lists));
  std::string status = current_status();
  if (!faults.empty()) {
    status = fmt::format("reload refused: {}; still {}", fmt::join(faults, "; "), status);
    log_->error("{}", status);
  }
  if (monitor_ != nullptr) monitor_->note_reload(faults.empty());
  tell_monitor(refusal);
  notify_ready(status);
  tell_outcome({began, faults.empty(), std::move(status)});
}

std::optional<NewSettings> Supervisor::read_again(std::vector<std::string>& faults) const {
  try {
    return read_settings_ ? read_settings_() : NewSettings{.sources = sources_};
  } catch (const std::exception& error) {
    faults.push_back(printable(error.what()));
    return std::nullopt;
  }
}

void Supervisor::take_in(NewSettings settings) {
  if (settings.sources.recheck_bytes_per_hour != sources_.recheck_bytes_per_hour) {
    guard_ = make_guard(settings.sources);
  }
  sources_ = std::move(settings.sources);
  if (settings.put_into_use) settings.put_into_use();
  waits_for_restart_ = fmt::format("{}", fmt::join(settings.wait_for_restart, ", "));
  if (waits_for_restart_.empty()) return;
  log_->warn("these options have changed and take effect at a restart only (systemctl restart bloomgate-milter): {}",
             waits_for_restart_);
}

// Whitelists as they are wanted, and exact lists as they are in use, to be loaded again; those of another path are left
// out. Nothing, if a list that is new cannot be used.
std::optional<ListParts> Supervisor::load_again(const ListSources& wanted, std::vector<std::string>& faults) {
  const auto in_use = slot_.get();
  const std::vector<NamedFilter>& before = in_use->parts().whitelists;
  ListParts lists = in_use->parts();
  lists.whitelists.clear();
  bool are_good = true;
  for (const WhitelistSource& source : wanted.whitelists) {
    std::vector<NamedFilter> filters;
    const auto known = std::ranges::find_if(sources_.whitelists, [&source](const WhitelistSource& each) {
      // Another key makes it another list: that a file is not signed by this one is no damage of the one in use.
      return each.path == source.path && each.store == source.store && each.trusted_keys == source.trusted_keys;
    });
    const bool is_new = known == sources_.whitelists.end();
    if (!is_new) filters = filters_of(known->name, before);
    give_name(source.name, filters);
    const bool is_good = load_again(source, filters, Reuse::none, wanted.allow_shrunken, faults) || !is_new;
    are_good = is_good && are_good;
    append(lists.whitelists, std::move(filters));
  }
  for (const ExactListPlace& each : kExactListPlaces) {
    if (wanted.*each.path == sources_.*each.path) continue;
    lists.*each.part = {};
    are_good = can_be_read(wanted.*each.path, faults) && are_good;
  }
  if (!are_good) return std::nullopt;
  return lists;
}

bool Supervisor::load_again(const WhitelistSource& source, std::vector<NamedFilter>& filters, Reuse reuse,
                            bool may_shrink, std::vector<std::string>& faults) {
  log_->info("loading {} again", printable(source.path));
  const std::size_t told = loaded_.size();
  try {
    std::vector<NamedFilter> loaded =
        load_whitelist(source, reuse == Reuse::sound_layers ? filters : std::vector<NamedFilter>());
    if (!may_shrink) require_not_shrunken(source, filters, loaded);
    filters = std::move(loaded);
    return true;
  } catch (const BloomgateError& error) {
    faults.push_back(printable(error.what()));
    for (const NamedFilter& each : filters) {
      if (each.filter && is_about_content(error.code()) && each.filter->is_used(error.details().path)) {
        each.filter->note_damage(Damage::spoiled);
      }
    }
  } catch (const std::exception& error) {
    // Neither a bad file nor a lack of memory for it may end a daemon that has a good whitelist.
    faults.push_back(printable(error.what()));
  }
  loaded_.resize(told);
  if (filters.empty()) filters.push_back({source.name, nullptr});
  for (NamedFilter& each : filters) each.awaits_pair = !source.store.empty();
  return false;
}

void Supervisor::tell_outcome(const ReloadOutcome& outcome) const {
  const std::string folder = runtime_folder();
  if (folder.empty()) return;
  try {
    write_reload_outcome(folder, outcome);
  } catch (const BloomgateError& error) {
    log_->error("whoever asked for the reload is not told what became of it: {}", printable(error.what()));
  }
}

void Supervisor::set_lists(ListParts lists) {
  slot_.set(std::make_shared<const LoadedLists>(std::move(lists)));
  for (const std::string& line : std::exchange(loaded_, {})) log_->info("{}", line);
}

void Supervisor::put_into_use(ListParts lists) {
  FilterGuard::Filters filters;
  for (const NamedFilter& each : lists.whitelists) filters.push_back(each.filter);
  set_lists(std::move(lists));
  if (const std::string rate = message_rate(*slot_.get(), sources_.identity); !rate.empty()) log_->info("{}", rate);
  for (const std::string& path : guard_->watch(std::move(filters))) {
    log_->warn("cannot watch {} (inotify): should somebody write to it in place, the next message shows",
               printable(path));
  }
}

void Supervisor::reload_changed() {
  watch_again();
  ListParts lists = slot_.get()->parts();
  std::vector<std::string> faults, refusals;
  reload_exact(lists, faults);
  const bool was_tried = load_replaced(lists, refusals);
  if (was_tried) {
    put_into_use(std::move(lists));
  } else {
    set_lists(std::move(lists));
  }
  std::ranges::copy(refusals, std::back_inserter(faults));
  const std::string status = current_status();
  if (!faults.empty()) log_->error("{}; {}", fmt::join(faults, "; "), status);
  if (was_tried) {
    if (monitor_ != nullptr) monitor_->note_reload(refusals.empty());
    tell_monitor(fmt::format("{}", fmt::join(refusals, "; ")));
  }
  notify_status(status);
}

Supervisor::Files Supervisor::files_of(const WhitelistSource& source) {
  if (!is_folder(source.path)) return {stamp_of(source.path), stamp_of(source.store), {}};
  Files files;
  for (const Layer& layer : layers_in(source.path)) files.layers.emplace_back(layer.name, stamp_of(layer.path));
  return files;
}

bool Supervisor::is_replaced(const WhitelistSource& source) const {
  const Files now = files_of(source);
  const auto tried = tried_.find(source.path);
  // One that has gone goes on to serve.
  return now.are_there() && (tried == tried_.end() || tried->second != now);
}

bool Supervisor::load_replaced(ListParts& lists, std::vector<std::string>& faults) {
  bool was_tried = false;
  const std::vector<NamedFilter> before = std::exchange(lists.whitelists, {});
  for (const WhitelistSource& source : sources_.whitelists) {
    std::vector<NamedFilter> filters = filters_of(source.name, before);
    std::vector<std::string> why;
    if (is_replaced(source)) {
      was_tried = true;
      load_again(source, filters, Reuse::sound_layers, sources_.allow_shrunken, why);
    }
    append(lists.whitelists, std::move(filters));
    for (const std::string& fault : why) {
      faults.push_back(fmt::format("whitelist {} is there and cannot be used: {}", source.name, fault));
    }
  }
  return was_tried;
}

// This comes before the files are read: a change from now on counts as a new one.
void Supervisor::watch_again() {
  first_change_.reset();
  look_at_folders();
}

void Supervisor::look_at_folders() {
  is_blind_ = false;
  for (const std::string& folder : watch_.watch_instead(all_paths(sources_))) {
    log_->error("cannot watch {}: its lists are read at a reload, or when it is there again", printable(folder));
    is_blind_ = true;
  }
}

std::vector<NamedFilter> Supervisor::load_whitelist(const WhitelistSource& source,
                                                    const std::vector<NamedFilter>& in_use) {
  const Clock::time_point start = Clock::now();
  tried_.insert_or_assign(source.path, files_of(source));
  std::vector<NamedFilter> loaded = open_whitelist(source, in_use);
  const double seconds = seconds_since(start);
  for (const NamedFilter& each : loaded) {
    const bool is_new = std::ranges::find(in_use, each.filter, &NamedFilter::filter) == in_use.end();
    if (!is_new) continue;
    loaded_.push_back(fmt::format("loaded {}, {}in {:.3f} s", each.filter->description(),
                                  sources_.lock_memory ? "locked in memory, " : "", seconds));
  }
  if (is_folder(source.path)) loaded_.push_back(fmt::format("layers of whitelist {}: {}", source.name, loaded.size()));
  return loaded;
}

// Both files of a pair may be replaced between the opening of the one and of the other: then the next try has both.
std::vector<NamedFilter> Supervisor::open_whitelist(const WhitelistSource& source,
                                                    const std::vector<NamedFilter>& in_use) const {
  for (int tries = 1;; ++tries) {
    try {
      return load_whitelist_files(source, sources_.lock_memory, check_, in_use);
    } catch (const BloomgateError& error) {
      if (error.code() != ErrorCode::bad_input || tries == kMostTriesOfPair) throw;
    }
  }
}

ExactListPart Supervisor::load_exact(const ExactListPlace& place, const std::string& path) {
  const Clock::time_point start = Clock::now();
  ExactListReading reading = load_exact_list(path, place.of);
  for (const BadLine& line : reading.bad_lines) {
    log_->warn("{}:{}: {}; the line is left out", printable(path), line.number, line.text);
  }
  if (reading.bad_line_count > reading.bad_lines.size()) {
    log_->warn("{}: {} more lines are not entries and are left out", printable(path),
               reading.bad_line_count - reading.bad_lines.size());
  }
  loaded_.push_back(fmt::format("loaded {} entries of {} in {:.3f} s ({})", reading.list.size(), printable(path),
                                seconds_since(start), place.name));
  return {.list = std::make_shared<const ExactList>(std::move(reading.list)), .left_out = reading.bad_line_count};
}

void Supervisor::reload_exact(ListParts& lists, std::vector<std::string>& faults) {
  for (const ExactListPlace& each : kExactListPlaces) reload_exact(each, lists, faults);
}

void Supervisor::reload_exact(const ExactListPlace& place, ListParts& lists, std::vector<std::string>& faults) {
  const std::string& path = sources_.*place.path;
  if (path.empty()) return;
  ExactListPart& part = lists.*place.part;
  const std::size_t entries_before = part.list ? part.list->size() : 0;
  try {
    part = load_exact(place, path);
    if (part.list->size() == 0 && entries_before != 0) {
      log_->warn("{} had {} entries and is empty now ({})", printable(path), entries_before, place.name);
    }
  } catch (const std::exception& error) {
    part = {.is_lost = true};
    faults.push_back(printable(error.what()));
  }
}

void Supervisor::report_damage() const {
  const std::string status = current_status();
  log_->error("{}", status);
  notify_status(status);
}

void Supervisor::report_results() const {
  if (results_.missing()) {
    log_->warn("{}", kNoTrustedResults);
  } else {
    log_->info("trusted results of authentication arrive again");
  }
  notify_status(current_status());
}

void Supervisor::tell_monitor(std::string refusal) const {
  if (monitor_ == nullptr) return;
  monitor_->set_standing({sources_.identity, waits_for_restart_, std::move(refusal)});
}

// What is wrong comes first: the doctor looks for it there.
std::string Supervisor::current_status() const {
  std::string status;
  if (results_.missing()) status.append(kNoTrustedResults).append("; ");
  if (const std::string fault = learning_fault_ ? learning_fault_() : ""; !fault.empty()) {
    status.append(kNothingIsLearned).append(printable(fault)).append("; ");
  }
  if (!waits_for_restart_.empty()) status.append(kWaitsForRestart).append(waits_for_restart_).append("; ");
  return status.append(service_status(*slot_.get(), sources_.identity));
}

}  // namespace bloomgate
