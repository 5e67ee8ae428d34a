#include "filter/jobs/share_job.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/signature.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/share/shared_folder.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr mode_t kSharedFolderMode = 0755;
constexpr mode_t kSharedFileMode = 0644;
// How long a file stays that the manifest no longer names.
constexpr auto kDroppedStay = 1min;
// No file of this job has a higher number.
constexpr std::uint64_t kMostFileNumber = 1'000'000'000'000'000;
// The most people whose forget is shared; a reader accepts no more.
constexpr std::size_t kMostPeople = 100'000;
// A new signature shows readers that nothing was withheld, also if nothing is new.
constexpr auto kSignedAnew = std::chrono::days(1);

std::uint16_t number_of(LearnedDay day) noexcept {
  return static_cast<std::uint16_t>(
      std::clamp<std::int64_t>(day.time_since_epoch().count(), 0, kLastLearnedDay.time_since_epoch().count()));
}

std::chrono::system_clock::time_point last_written(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return std::chrono::system_clock::from_time_t(status.st_mtime);
}

bool is_of_pair(SharedKind kind) noexcept {
  return kind == SharedKind::pair || kind == SharedKind::gone;
}

// Of records in their order, those that are valid. A later record of the same pair, person or source replaces an
// earlier one.
std::vector<SharedRecord> last_of_each(std::span<const SharedRecord> records) {
  std::unordered_set<std::uint64_t> pairs;
  std::unordered_set<std::uint64_t> sources;
  std::unordered_set<std::uint64_t> domains;
  std::vector<SharedRecord> last;
  for (std::size_t i = records.size(); i-- > 0;) {
    const SharedRecord& record = records[i];
    if (is_of_pair(record.kind) && !pairs.insert(record.hash).second) continue;
    if (record.kind == SharedKind::applied && !sources.insert(record.hash).second) continue;
    if (record.kind == SharedKind::domain && !domains.insert(record.hash).second) continue;
    last.push_back(record);
  }
  std::ranges::reverse(last);
  return last;
}

// The pairs that are learned according to these records, sorted.
std::vector<std::uint64_t> learned_in(std::span<const SharedRecord> records) {
  std::vector<std::uint64_t> hashes;
  for (const SharedRecord& record : last_of_each(records)) {
    if (record.kind == SharedKind::pair) hashes.push_back(record.hash);
  }
  std::ranges::sort(hashes);
  return hashes;
}

// Adds the people whom this host has forgotten, and which forgets of other hosts it has applied.
void add_forgets(const LearnedFile::News& news, const LearnKey& key, std::vector<SharedRecord>& records) {
  for (const LearnedFile::OwnForget& each : news.forgets) {
    records.push_back({.kind = SharedKind::person,
                       .hash = key.hash_of_person(each.person),
                       .second = static_cast<std::uint64_t>(each.number),
                       .day = number_of(each.day)});
  }
  for (const auto& [host, each] : news.heard) {
    records.push_back({.kind = SharedKind::applied,
                       .hash = forgets_id(host, each.source),
                       .second = static_cast<std::uint64_t>(each.forgets),
                       .day = 0});
  }
}

}  // namespace

ShareJob::ShareJob(ShareRequest request, JobObserver& observer, const std::atomic<bool>& stop)
    : request_(std::move(request)),
      observer_(observer),
      stop_(stop),
      lock_([&]() -> FolderLock {
        make_folder();
        return locked();
      }()),
      manifest_(request_.folder, request_.sign_key, request_.manifest, observer.warns()) {}

ShareJob::~ShareJob() = default;

void ShareJob::require_no_stop() const {
  if (stop_) throw BloomgateError(ErrorCode::interrupted, "stopped by a signal");
}

std::string ShareJob::path_of(const std::string& name) const {
  return (std::filesystem::path(request_.folder) / name).string();
}

// The file may be another one than before, since a damaged file was moved away.
void ShareJob::open_file() {
  const std::optional<FileStamp> stamp = FileStamp::of_path(request_.file);
  if (file_ != nullptr && stamp && stamp_->is_same_file(*stamp)) return;
  file_.reset();
  file_ = std::make_unique<LearnedFile>(request_.file, LearnedFile::Access::write);
  stamp_ = stamp;
  version_.reset();
  shared_forgets_.reset();
  has_read_folder_ = false;
}

// Reads the files that a manifest of this host names. Everything else is made anew.
void ShareJob::read_folder() {
  files_.clear();
  published_.reset();
  dropped_.clear();
  try {
    published_ = read_manifest(request_.folder);
    if (published_) require_shared(published_->manifest, manifest_path(request_.folder));
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    published_.reset();  // ManifestWriter has warned of it
  }
  if (published_ && published_->signer != request_.sign_key->public_key()) published_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(request_.folder)) {
    const std::string name = entry.path().filename().string();
    if (is_layer_name(name) || name == kRevokedName) {
      throw BloomgateError(ErrorCode::bad_argument,
                           printable(request_.folder) + " has " + printable(name) +
                               ", a part of a whitelist, of which the manifest would say nothing; name another folder",
                           {.path = request_.folder});
    }
    if (number_of_shared_file(name) == 0 || number_of_shared_file(name) > kMostFileNumber) continue;
    dropped_.emplace_back(name, last_written(path_of(name)));
  }
  if (!published_) {
    if (!dropped_.empty()) {
      observer_.warn("warning: no manifest names what is in " + printable(request_.folder) +
                     ": everything is shared again, except the people whom other hosts still had to forget");
    }
    return;
  }
  try {
    for (const PublishedFile& file : published_->manifest.files) {
      const std::string bytes = read_shared_file(request_.folder, file);
      files_.push_back({file, SharedPairs(bytes, path_of(file.name)).header()});
    }
  } catch (const BloomgateError& error) {
    if (error.code() == ErrorCode::cannot_read) throw;
    observer_.warn(
        std::string("warning: everything is shared again, except the people whom other hosts still had to forget: ") +
        error.what());
    files_.clear();
    published_.reset();
  }
  for (const Shared& each : files_) {
    std::erase_if(dropped_, [&](const auto& dropped) { return dropped.first == each.file.name; });
  }
}

void ShareJob::Pairs::add(const LearnedPair& pair, const LearnKey& key) {
  const std::uint16_t day = number_of(pair.last_use);
  records.push_back(
      {.kind = SharedKind::pair, .hash = key.hash_of_pair(pair.user, pair.correspondent), .second = 0, .day = day});
  std::uint16_t& last = domains[key.hash_of_domain(pair.correspondent.substr(pair.correspondent.rfind('@') + 1))];
  last = std::max(last, day);
}

// The domains are in the order of their hashes, so that their positions do not show to which pairs they belong.
void ShareJob::Pairs::append_to(std::vector<SharedRecord>& all) const {
  all.insert(all.end(), records.begin(), records.end());
  for (const auto& [hash, day] : domains) {
    all.push_back({.kind = SharedKind::domain, .hash = hash, .second = 0, .day = day});
  }
}

std::vector<SharedRecord> ShareJob::records_from(std::size_t first) const {
  std::vector<SharedRecord> records;
  for (std::size_t i = first; i < files_.size(); ++i) {
    require_no_stop();
    const std::string bytes = read_shared_file(request_.folder, files_[i].file);
    const SharedPairs pairs(bytes, path_of(files_[i].file.name));
    for (std::size_t at = 0; at < pairs.size(); ++at) records.push_back(pairs[at]);
  }
  return records;
}

// Makes the folder readable for a web server, whatever the umask is.
void ShareJob::make_folder() const {
  const char* const folder = request_.folder.c_str();
  if (mkdir(folder, kSharedFolderMode) != 0) {
    if (errno == EEXIST) return;
    throw system_error(ErrorCode::cannot_write, "make the folder", request_.folder, errno);
  }
  if (chmod(folder, kSharedFolderMode) != 0) {
    throw system_error(ErrorCode::cannot_write, "set the mode of", request_.folder, errno);
  }
}

FolderLock ShareJob::locked() {
  folder_stamp_ = FileStamp::of_path(request_.folder);
  return {request_.folder, stop_,
          [this] { observer_.note("waiting for another process that is at work in " + printable(request_.folder)); }};
}

// Another folder may have replaced it.
void ShareJob::require_folder() {
  const std::optional<FileStamp> stamp = FileStamp::of_path(request_.folder);
  if (stamp && folder_stamp_ && stamp->is_same_file(*folder_stamp_)) return;
  make_folder();
  lock_ = locked();
  has_read_folder_ = false;
}

bool ShareJob::is_ours(const SharedHeader& header) {
  return header.source == file_->source() && header.key_check == request_.learn_key.check();
}

// Used numbers must not be used again: other hosts would take new forgets for those that they have already applied.
void ShareJob::begin_anew_if_older() {
  if (files_.empty() || !is_ours(files_.back().header) || goes_on_from_folder()) return;
  observer_.warn("warning: " + printable(request_.file) +
                 " does not fit what was shared, as if an older copy had been restored: forget again the people whom "
                 "you have forgotten since that copy");
  file_->renew_source();
  shared_forgets_.reset();
}

// Whether the database once had the content of the folder: each pair up to that change, and the same forgets.
bool ShareJob::goes_on_from_folder() {
  const SharedHeader& last = files_.back().header;
  const LearnedFile::Changes changes = file_->changes();
  if (last.last_change > changes.last || last.last_forget > changes.forgets) return false;
  const std::vector<SharedRecord> records = records_from(0);
  const std::vector<std::uint64_t> shared = learned_in(records);
  std::map<std::uint64_t, std::uint64_t> people;
  for (const SharedRecord& each : records) {
    if (each.kind == SharedKind::person) people[each.second] = each.hash;
  }
  std::vector<std::uint64_t> all;
  std::vector<std::uint64_t> fresh;
  file_->for_each(
      [&](const LearnedPair& pair) { all.push_back(request_.learn_key.hash_of_pair(pair.user, pair.correspondent)); });
  const LearnedFile::News news = file_->news_since({last.last_change, 0}, [&](const LearnedPair& pair) {
    fresh.push_back(request_.learn_key.hash_of_pair(pair.user, pair.correspondent));
  });
  std::ranges::sort(all);
  std::ranges::sort(fresh);
  std::vector<std::uint64_t> old;
  std::ranges::set_difference(all, fresh, std::back_inserter(old));
  return std::ranges::includes(shared, old) &&
         std::ranges::all_of(news.forgets, [&](const LearnedFile::OwnForget& each) {
           const auto found = people.find(static_cast<std::uint64_t>(each.number));
           return found == people.end() || found->second == request_.learn_key.hash_of_person(each.person);
         });
}

// Whether the content of the folder is the beginning of the present content of the database.
bool ShareJob::may_go_on(std::uint16_t today) {
  if (files_.empty() || !files_.front().header.is_whole || !is_ours(files_.back().header)) return false;
  const bool has_forgotten = files_.front().header.last_forget < files_.back().header.last_forget;
  return !has_forgotten || files_.front().header.day >= today;
}

ShareJob::Gathered ShareJob::gather_news(std::uint16_t today) {
  const SharedHeader& last = files_.back().header;
  Pairs pairs;
  const LearnedFile::News news = file_->news_since({last.last_change, last.last_forget}, [&](const LearnedPair& pair) {
    require_no_stop();
    pairs.add(pair, request_.learn_key);
  });
  Gathered gathered = {.header = {.source = news.source,
                                  .key_check = last.key_check,
                                  .last_change = news.changes.last,
                                  .last_forget = news.changes.forgets,
                                  .day = today},
                       .first_replaced = files_.size(),
                       .pairs = pairs.size(),
                       .forgets = news.forgets.size()};
  if (news.changes.forgets != last.last_forget) {
    add_gone(gathered.records);
    add_forgets(news, request_.learn_key, gathered.records);
  }
  // After the removed pairs, since a pair may have been learned again.
  pairs.append_to(gathered.records);
  // Maybe only the numbers have changed: expired pairs are not recorded, since every reader sees their day.
  if (gathered.records.empty() && news.changes.forgets == last.last_forget) return gathered;
  unite(gathered, today);
  return gathered;
}

// Adds the pairs that the folder has and the database no longer has.
void ShareJob::add_gone(std::vector<SharedRecord>& records) {
  const std::vector<std::uint64_t> shared = learned_in(records_from(0));
  std::vector<std::uint64_t> now;
  file_->for_each([&](const LearnedPair& pair) {
    require_no_stop();
    now.push_back(request_.learn_key.hash_of_pair(pair.user, pair.correspondent));
  });
  std::ranges::sort(now);
  std::vector<std::uint64_t> gone;
  std::ranges::set_difference(shared, now, std::back_inserter(gone));
  for (const std::uint64_t hash : gone) records.push_back({.kind = SharedKind::gone, .hash = hash});
}

void ShareJob::unite(Gathered& gathered, std::uint16_t today) {
  std::uint64_t bytes = kSharedHeaderBytes + gathered.records.size() * kSharedRecordBytes;
  std::size_t first = files_.size();
  for (std::size_t i = files_.size(); i-- > 0;) {
    bytes += files_[i].file.bytes;
    if (files_[i].file.bytes <= bytes - files_[i].file.bytes) first = i;
  }
  if (first == files_.size()) return;
  if (first == 0) {
    const std::uint64_t forgets = gathered.forgets;
    gathered = gather_all(today);
    gathered.forgets = forgets;
    return;
  }
  std::vector<SharedRecord> records = records_from(first);
  records.insert(records.end(), gathered.records.begin(), gathered.records.end());
  gathered.records = last_of_each(records);
  gathered.first_replaced = first;
}

ShareJob::Gathered ShareJob::gather_all(std::uint16_t today) {
  // People whose forget some other host may not have applied yet.
  std::vector<SharedRecord> people;
  if (!files_.empty() && is_ours(files_.back().header)) {
    people = records_from(0);
    std::erase_if(people, [&](const SharedRecord& each) {
      return each.kind != SharedKind::person || each.day + request_.keep.count() < today;
    });
    if (people.size() > kMostPeople) people.erase(people.begin(), people.end() - kMostPeople);
  }
  const std::int64_t known_forget = people.empty() ? 0 : static_cast<std::int64_t>(people.back().second);
  Pairs pairs;
  const LearnedFile::News news = file_->news_since({0, known_forget}, [&](const LearnedPair& pair) {
    require_no_stop();
    pairs.add(pair, request_.learn_key);
  });
  Gathered gathered = {.header = {.source = news.source,
                                  .key_check = request_.learn_key.check(),
                                  .last_change = news.changes.last,
                                  .last_forget = news.changes.forgets,
                                  .day = today,
                                  .is_whole = true},
                       .records = std::move(people),
                       .pairs = pairs.size(),
                       .forgets = news.forgets.size()};
  add_forgets(news, request_.learn_key, gathered.records);
  pairs.append_to(gathered.records);
  return gathered;
}

void ShareJob::write(const Gathered& gathered, ShareResult& result) {
  std::uint64_t number = 1;
  for (const Shared& each : files_) number = std::max(number, number_of_shared_file(each.file.name) + 1);
  for (const auto& each : dropped_) number = std::max(number, number_of_shared_file(each.first) + 1);
  const std::string text = shared_text(gathered.header, gathered.records);
  if (text.size() > kMostSharedFileBytes) {
    throw BloomgateError(ErrorCode::bad_input, request_.file + " has more pairs than can be shared",
                         {.path = request_.file});
  }
  const PublishedFile file = {
      .name = shared_file_name(number), .bytes = text.size(), .digest = digest_of(std::as_bytes(std::span(text)))};
  replace_file(path_of(file.name), text, kSharedFileMode);
  for (std::size_t i = gathered.first_replaced; i < files_.size(); ++i) {
    dropped_.emplace_back(files_[i].file.name, std::chrono::system_clock::now());
  }
  files_.resize(gathered.first_replaced);
  files_.push_back({file, gathered.header});
  result.file = file.name;
  result.is_whole = gathered.header.is_whole;
  result.bytes = file.bytes;
  result.pairs = gathered.pairs;
  result.forgets = gathered.forgets;
}

void ShareJob::sign(ShareResult& result) {
  std::vector<PublishedFile> named;
  for (const Shared& each : files_) named.push_back(each.file);
  published_ = manifest_.write_naming(std::move(named));
  result.is_new = true;
  tell_file();
}

// The database keeps forgets until it knows that they were shared.
void ShareJob::tell_file() {
  const std::int64_t forgets = files_.back().header.last_forget;
  if (shared_forgets_ == forgets) return;
  file_->set_shared(forgets, host_id(request_.sign_key->public_key()));
  shared_forgets_ = forgets;
}

void ShareJob::remove_dropped() {
  const auto before = std::chrono::system_clock::now() - kDroppedStay;
  std::erase_if(dropped_, [&](const auto& each) {
    return each.second < before && (unlink(path_of(each.first).c_str()) == 0 || errno == ENOENT);
  });
}

ShareResult ShareJob::share(Clock::time_point now) {
  require_folder();
  open_file();
  if (!has_read_folder_) {
    read_folder();
    begin_anew_if_older();
  }
  has_read_folder_ = true;
  remove_dropped();
  const std::int64_t version = file_->data_version();
  const bool is_due = !published_ || now >= published_->manifest.made + kSignedAnew;
  ShareResult result;
  if (is_due || version != version_) {
    // If this fails, the next run must not continue from a half-finished state.
    has_read_folder_ = false;
    const auto today = number_of(std::chrono::floor<std::chrono::days>(now));
    const Gathered gathered = may_go_on(today) ? gather_news(today) : gather_all(today);
    if (gathered.first_replaced < files_.size() || !gathered.records.empty() || gathered.header.is_whole) {
      write(gathered, result);
    }
    if (is_due || !result.file.empty()) sign(result);
    has_read_folder_ = true;
    version_ = version;
  }
  tell_file();
  result.manifest = *published_;
  return result;
}

}  // namespace bloomgate
