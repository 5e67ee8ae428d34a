#include "filter/learned/learned_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/learned/is_of_people.hpp"
#include "filter/learned/sqlite.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
// The file shows who writes to whom, so only the operator may read it.
constexpr mode_t kMode = 0640;
constexpr std::int64_t kApplication = 0x426c4c72;  // "BlLr"
constexpr std::int64_t kVersion = 2;
// A higher number means damage: counting to it would take longer than the file will live.
constexpr std::int64_t kHighestChange = std::int64_t{1} << 62;

constexpr std::string_view kPairsTable =
    "CREATE TABLE pairs (change INTEGER PRIMARY KEY, user TEXT NOT NULL, correspondent TEXT NOT NULL, "
    "first_use INTEGER NOT NULL, last_use INTEGER NOT NULL, UNIQUE (user, correspondent)) STRICT";
constexpr std::string_view kStateTable =
    "CREATE TABLE state (one INTEGER PRIMARY KEY, last_change INTEGER NOT NULL, forgets INTEGER NOT NULL, "
    "pairs INTEGER NOT NULL, source INTEGER NOT NULL, shared_forgets INTEGER, shared_by INTEGER NOT NULL) STRICT";
constexpr std::string_view kForgottenTable =
    "CREATE TABLE forgotten (number INTEGER PRIMARY KEY, person INTEGER NOT NULL, time INTEGER NOT NULL, "
    "day INTEGER NOT NULL, is_heard INTEGER NOT NULL) STRICT";
constexpr std::string_view kHeardTable =
    "CREATE TABLE heard (host INTEGER PRIMARY KEY, source INTEGER NOT NULL, forgets INTEGER NOT NULL) STRICT";
constexpr std::string_view kColumns = "SELECT change, user, correspondent, first_use, last_use FROM pairs ";

std::int64_t number_of(LearnedDay day) noexcept {
  return day.time_since_epoch().count();
}

[[noreturn]] void refuse(const Database& database, const std::string& what) {
  throw BloomgateError(ErrorCode::bad_input,
                       database.path() + ": " + what +
                           "; the file is damaged: move it away, with those that end in -wal and -shm, and the daemon "
                           "begins a new one",
                       {.path = database.path()});
}

void require_regular(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  if (S_ISREG(status.st_mode)) return;
  throw BloomgateError(ErrorCode::not_a_regular_file,
                       path + ": expected a regular file, the database of what is learned", {.path = path});
}

void create(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!file.is_open()) throw system_error(ErrorCode::cannot_write, "create", path, errno);
}

std::int64_t pragma(Database& database, std::string_view statement) {
  Query query(database, statement);
  if (!query.next()) refuse(database, "it does not answer '" + std::string(statement) + "'");
  return query.integer(0).value_or(-1);
}

bool is_canonical(std::string_view address) noexcept {
  const Entry entry = canonicalize_path(address);
  return entry.kind() == EntryKind::address && entry.key() == address;
}

bool is_day(const std::optional<std::int64_t>& day) noexcept {
  return day && *day >= 0 && *day <= number_of(kLastLearnedDay);
}

LearnedPair pair_of(const Database& database, const Query& row) {
  const std::optional<std::string_view> user = row.text(1);
  const std::optional<std::string_view> correspondent = row.text(2);
  const std::optional<std::int64_t> first = row.integer(3);
  const std::optional<std::int64_t> last = row.integer(4);
  const std::string place = "row " + std::to_string(row.integer(0).value_or(-1));
  for (const auto& address : {user, correspondent}) {
    if (!address) refuse(database, place + " has no text where an address should be");
    if (!is_canonical(*address)) {
      refuse(database, place + " has '" + printable(address->substr(0, kMaxKeyBytes)) +
                           "', which is no address as it is written there");
    }
  }
  if (!is_day(first) || !is_day(last) || *first > *last) refuse(database, place + " has no days of use");
  return {*user, *correspondent, LearnedDay(std::chrono::days(*first)), LearnedDay(std::chrono::days(*last))};
}

struct State {
  std::int64_t last_change = 0;
  std::int64_t forgets = 0;
  std::int64_t pairs = 0;
};

std::uint64_t added_on(Database& database, std::string_view user, LearnedDay day) {
  Query query(database, "SELECT count(*) FROM pairs WHERE user = ?1 AND first_use = ?2");
  query.bind(1, user);
  query.bind(2, number_of(day));
  return query.next() ? static_cast<std::uint64_t>(query.integer(0).value_or(0)) : 0;
}

State read_state(Database& database) {
  Query query(database, "SELECT last_change, forgets, pairs FROM state WHERE one = 1");
  if (!query.next()) refuse(database, "its table 'state' has no row");
  const auto number = [&](int column) {
    const std::int64_t value = query.integer(column).value_or(-1);
    if (value < 0 || value > kHighestChange) refuse(database, "its table 'state' has a number out of range");
    return value;
  };
  return {number(0), number(1), number(2)};
}

void write_state(Database& database, const State& state) {
  Query query(database, "UPDATE state SET last_change = ?1, forgets = ?2, pairs = ?3 WHERE one = 1");
  query.bind(1, state.last_change);
  query.bind(2, state.forgets);
  query.bind(3, state.pairs);
  query.run();
}

std::uint64_t bits_of(std::optional<std::int64_t> column) noexcept {
  return std::bit_cast<std::uint64_t>(column.value_or(0));
}

LearnedFile::HeardForgets read_heard(Database& database) {
  LearnedFile::HeardForgets heard;
  Query query(database, "SELECT host, source, forgets FROM heard");
  while (query.next()) {
    const std::int64_t forgets = query.integer(2).value_or(-1);
    if (forgets < 0 || forgets > kHighestChange) refuse(database, "its table 'heard' has a number out of range");
    heard[bits_of(query.integer(0))] = {bits_of(query.integer(1)), forgets};
  }
  return heard;
}

std::uint64_t read_source(Database& database) {
  const std::int64_t source = pragma(database, "SELECT source FROM state WHERE one = 1");
  if (source == 0) refuse(database, "it has no number of its own");
  return std::bit_cast<std::uint64_t>(source);
}

Forgets read_forgets(Database& database, const State& state, const Forgets::Rehash& rehash) {
  Query query(database, "SELECT number, person, time, is_heard FROM forgotten ORDER BY number DESC LIMIT ?1");
  query.bind(1, static_cast<std::int64_t>(Forgets::kMost));
  std::vector<Forgets::Person> last;
  for (std::int64_t number = state.forgets; query.next(); --number) {
    if (query.integer(0) != number) refuse(database, "its table 'forgotten' is not in order");
    last.push_back({.hash = bits_of(query.integer(1)),
                    .is_heard = query.integer(3) == 1,
                    .time = std::chrono::nanoseconds(query.integer(2).value_or(0))});
  }
  std::ranges::reverse(last);
  return {state.forgets, std::move(last), rehash};
}

}  // namespace

LearnedFile::LearnedFile(const std::string& path, Access access) {
  if (access == Access::create) create(path);
  require_regular(path);
  database_ = std::make_unique<Database>(path, access != Access::read, kPatience);
  if (access == Access::create) prepare();
  check_schema();
  // A commit is on the disk when it returns. The log is cut back after it was long.
  database_->run("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216;");
}

LearnedFile::~LearnedFile() = default;

void LearnedFile::prepare() {
  if (pragma(*database_, "SELECT count(*) FROM sqlite_schema") != 0) return;
  // Only for a file that is empty, or was left empty.
  if (pragma(*database_, "PRAGMA application_id") != 0) return;
  Query(*database_, "PRAGMA journal_mode = WAL").next();
  Transaction transaction(*database_, true);
  if (pragma(*database_, "SELECT count(*) FROM sqlite_schema") != 0) return;  // another process was faster
  database_->run(std::string(kPairsTable).c_str());
  database_->run(std::string(kStateTable).c_str());
  database_->run(std::string(kForgottenTable).c_str());
  database_->run(std::string(kHeardTable).c_str());
  database_->run("INSERT INTO state VALUES (1, 0, 0, 0, random() | 1, NULL, 0)");
  database_->run(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
  database_->run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
  transaction.commit();
}

void LearnedFile::check_schema() {
  const std::string& path = database_->path();
  if (pragma(*database_, "PRAGMA application_id") != kApplication) {
    throw BloomgateError(ErrorCode::bad_magic,
                         path +
                             ": expected a database of what Bloomgate has learned, found one of another program, or "
                             "an empty one; name the file of the option learn-file",
                         {.path = path});
  }
  if (const std::int64_t version = pragma(*database_, "PRAGMA user_version"); version != kVersion) {
    throw BloomgateError(ErrorCode::unsupported_version,
                         path + ": expected version " + std::to_string(kVersion) +
                             " of what is learned, found version " + std::to_string(version) +
                             "; it needs the Bloomgate that has written it",
                         {.path = path, .expected = std::to_string(kVersion), .got = std::to_string(version)});
  }
  const auto require_table = [&](std::string_view name, std::string_view want) {
    Query query(*database_, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1");
    query.bind(1, name);
    if (!query.next() || query.text(0) != want) refuse(*database_, "its table '" + std::string(name) + "' is another");
  };
  require_table("pairs", kPairsTable);
  require_table("state", kStateTable);
  require_table("forgotten", kForgottenTable);
  require_table("heard", kHeardTable);
  read_state(*database_);
}

void LearnedFile::for_each(const Use& use) {
  Query query(*database_, std::string(kColumns) + "ORDER BY user, correspondent");
  while (query.next()) use(pair_of(*database_, query));
}

LearnedFile::Changes LearnedFile::for_each_since(std::int64_t change, const Use& use) {
  const Transaction one_state(*database_, false);
  const State state = read_state(*database_);
  Query query(*database_, std::string(kColumns) + "WHERE change > ?1 ORDER BY change");
  query.bind(1, change);
  while (query.next()) use(pair_of(*database_, query));
  return {state.last_change, state.forgets};
}

LearnedFile::Changes LearnedFile::changes() {
  const State state = read_state(*database_);
  return {state.last_change, state.forgets};
}

std::optional<LearnedDay> LearnedFile::find(std::string_view user, std::string_view correspondent) {
  Query query(*database_, std::string(kColumns) + "WHERE user = ?1 AND correspondent = ?2");
  query.bind(1, user);
  query.bind(2, correspondent);
  if (!query.next()) return std::nullopt;
  return pair_of(*database_, query).last_use;
}

std::optional<LearnedDay> LearnedFile::last_use_of_domain(std::string_view domain) {
  const std::string end = "@" + std::string(domain);
  Query query(*database_,
              std::string(kColumns) + "WHERE substr(correspondent, -length(?1)) = ?1 ORDER BY last_use DESC");
  query.bind(1, end);
  if (!query.next()) return std::nullopt;
  return pair_of(*database_, query).last_use;
}

std::int64_t LearnedFile::data_version() {
  return pragma(*database_, "PRAGMA data_version");
}

LearnedFile::Recorded LearnedFile::record(std::span<const Contact> contacts, LearnedDay day) {
  Recorded recorded;
  Transaction transaction(*database_, true);
  State state = read_state(*database_);
  Query renew(*database_,
              "UPDATE pairs SET change = ?1, last_use = max(last_use, ?2) WHERE user = ?3 AND correspondent = ?4");
  Query add(*database_, "INSERT INTO pairs VALUES (?1, ?3, ?4, ?2, ?2)");
  const bool began_before = std::ranges::any_of(
      contacts, [&](const Contact& contact) { return contact.began && contact.began->forgets != state.forgets; });
  const Forgets forgets = began_before ? read_forgets(*database_, state, rehash_) : Forgets(state.forgets, {});
  for (const Contact& contact : contacts) {
    const bool may_be_forgotten = contact.began && !contact.is_renewal;
    if (may_be_forgotten && forgets.name_either(contact.user, contact.correspondent, *contact.began)) {
      ++recorded.forgotten;
      continue;
    }
    const auto run = [&](Query& query) {
      query.bind(1, state.last_change + 1);
      query.bind(2, number_of(day));
      query.bind(3, contact.user);
      query.bind(4, contact.correspondent);
      query.run();
      if (database_->changed_rows() == 0) return false;
      ++state.last_change;
      return true;
    };
    if (run(renew)) {
      ++recorded.renewed;
    } else if (contact.is_renewal) {
      continue;
    } else if (static_cast<std::uint64_t>(state.pairs) >= kMostLearned) {
      ++recorded.no_room;
    } else if (contact.most_a_day != UINT64_MAX && added_on(*database_, contact.user, day) >= contact.most_a_day) {
      ++recorded.over_rate;
    } else if (run(add)) {
      ++recorded.added;
      ++state.pairs;
    }
  }
  write_state(*database_, state);
  transaction.commit();
  return recorded;
}

std::uint64_t LearnedFile::expire(LearnedDay day, std::uint64_t most) {
  Transaction transaction(*database_, true);
  State state = read_state(*database_);
  // The first ones are those whose last use is the longest ago.
  Query query(
      *database_,
      "DELETE FROM pairs WHERE change IN (SELECT change FROM (SELECT change, last_use FROM pairs ORDER BY change "
      "LIMIT ?2) WHERE last_use < ?1)");
  query.bind(1, number_of(day));
  query.bind(2, static_cast<std::int64_t>(most));
  query.run();
  const std::uint64_t expired = database_->changed_rows();
  if (expired == 0) return 0;
  state.pairs -= std::min(state.pairs, static_cast<std::int64_t>(expired));
  write_state(*database_, state);
  transaction.commit();
  return expired;
}

struct LearnedFile::Forget {
  std::span<const std::uint64_t> people;
  bool is_heard = false;
  LearnedDay day;
  std::chrono::nanoseconds time;
  const IsNamed& is_named;
};

std::uint64_t LearnedFile::forget(const Entry& person, LearnedDay day) {
  return forget(person, day, {});
}

std::uint64_t LearnedFile::forget(const Entry& person, LearnedDay day, std::chrono::nanoseconds time) {
  Transaction transaction(*database_, true);
  // No other process writes from here on: what later messages teach is written later.
  if (time == std::chrono::nanoseconds{}) time = boot_time();
  const IsNamed is_named = [&](const LearnedPair& pair) {
    return is_of_person(pair.user, person) || is_of_person(pair.correspondent, person);
  };
  const std::uint64_t hash = Forgets::hash_of(person);
  return forget(transaction, {{&hash, 1}, false, day, time, is_named});
}

std::uint64_t LearnedFile::forget_heard(std::uint64_t host, const Heard& heard, std::span<const std::uint64_t> people,
                                        const IsNamed& is_named, LearnedDay day) {
  Transaction transaction(*database_, true);
  const HeardForgets before = read_heard(*database_);
  const auto found = before.find(host);
  if (found != before.end() && found->second.source == heard.source && found->second.forgets >= heard.forgets) return 0;
  Query note(*database_, "INSERT OR REPLACE INTO heard VALUES (?1, ?2, ?3)");
  note.bind(1, std::bit_cast<std::int64_t>(host));
  note.bind(2, std::bit_cast<std::int64_t>(heard.source));
  note.bind(3, heard.forgets);
  note.run();
  return forget(transaction, {people, true, day, boot_time(), is_named});
}

std::uint64_t LearnedFile::forget(Transaction& transaction, const Forget& wanted) {
  std::vector<std::int64_t> rows;
  State state = read_state(*database_);
  {
    Query query(*database_, kColumns);
    while (query.next()) {
      if (wanted.is_named(pair_of(*database_, query))) rows.push_back(query.integer(0).value_or(-1));
    }
  }
  Query remove(*database_, "DELETE FROM pairs WHERE change = ?1");
  for (const std::int64_t row : rows) {
    remove.bind(1, row);
    remove.run();
  }
  // Also if there were no pairs of these people: a message that is under way may still teach one.
  Query note(*database_, "INSERT INTO forgotten VALUES (?1, ?2, ?3, ?4, ?5)");
  for (const std::uint64_t person : wanted.people) {
    ++state.forgets;
    note.bind(1, state.forgets);
    note.bind(2, std::bit_cast<std::int64_t>(person));
    note.bind(3, static_cast<std::int64_t>(wanted.time.count()));
    note.bind(4, number_of(wanted.day));
    note.bind(5, static_cast<std::int64_t>(wanted.is_heard ? 1 : 0));
    note.run();
  }
  Query drop(
      *database_,
      "DELETE FROM forgotten WHERE number <= ?1 AND number <= (SELECT ifnull(shared_forgets, forgets) FROM state "
      "WHERE one = 1)");
  drop.bind(1, state.forgets - static_cast<std::int64_t>(Forgets::kMost));
  drop.run();
  state.pairs -= std::min(state.pairs, static_cast<std::int64_t>(rows.size()));
  write_state(*database_, state);
  transaction.commit();
  // Removes what the log still has of it. If a daemon reads just now, the log keeps it until the daemon's next
  // checkpoint.
  Query(*database_, "PRAGMA wal_checkpoint(TRUNCATE)").next();
  return rows.size();
}

Forgets LearnedFile::forgets() {
  const Transaction one_state(*database_, false);
  return read_forgets(*database_, read_state(*database_), rehash_);
}

// Drops the last of these, and all before it, so that no number is missing among those that stay.
void LearnedFile::drop_forgets(LearnedDay day, LearnedDay oldest) {
  Query drop(*database_,
             "DELETE FROM forgotten WHERE number <= (SELECT max(number) FROM forgotten WHERE day < ?1) AND (number <= "
             "(SELECT ifnull(shared_forgets, forgets) FROM state WHERE one = 1) OR number <= (SELECT max(number) FROM "
             "forgotten WHERE day < ?2))");
  drop.bind(1, number_of(day));
  drop.bind(2, number_of(oldest));
  drop.run();
}

std::uint64_t LearnedFile::source() {
  return read_source(*database_);
}

void LearnedFile::renew_source() {
  Query(*database_, "UPDATE state SET source = random() | 1, shared_forgets = NULL WHERE one = 1").run();
}

LearnedFile::HeardForgets LearnedFile::heard_forgets() {
  return read_heard(*database_);
}

LearnedFile::News LearnedFile::news_since(const Changes& known, const Use& use) {
  const Transaction one_state(*database_, false);
  const State state = read_state(*database_);
  News news = {.source = read_source(*database_),
               .changes = {state.last_change, state.forgets},
               .heard = read_heard(*database_)};
  Query forgotten(*database_,
                  "SELECT number, person, day FROM forgotten WHERE number > ?1 AND is_heard = 0 ORDER BY number");
  forgotten.bind(1, known.forgets);
  while (forgotten.next()) {
    const std::optional<std::int64_t> day = forgotten.integer(2);
    const std::int64_t number = forgotten.integer(0).value_or(-1);
    // A column of SQLite may hold a text, which is greater than every number.
    if (number < 1 || number > state.forgets || !is_day(day)) refuse(*database_, "its table 'forgotten' is damaged");
    news.forgets.push_back({number, bits_of(forgotten.integer(1)), LearnedDay(std::chrono::days(*day))});
  }
  Query query(*database_, std::string(kColumns) + "WHERE change > ?1 ORDER BY change");
  query.bind(1, known.last);
  while (query.next()) use(pair_of(*database_, query));
  return news;
}

void LearnedFile::set_shared(std::int64_t forgets, std::uint64_t host) {
  Query query(*database_, "UPDATE state SET shared_forgets = ?1, shared_by = ?2 WHERE one = 1");
  query.bind(1, forgets);
  query.bind(2, std::bit_cast<std::int64_t>(host));
  query.run();
}

std::uint64_t LearnedFile::shared_by() {
  Query query(*database_, "SELECT shared_by FROM state WHERE one = 1");
  return query.next() ? bits_of(query.integer(0)) : 0;
}

std::uint64_t LearnedFile::count() {
  return static_cast<std::uint64_t>(read_state(*database_).pairs);
}

}  // namespace bloomgate
