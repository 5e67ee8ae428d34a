// What the daemon has learned from outgoing mail: a database of pairs with the days of their first and last use. A pair
// is one of our users, and a correspondent to whom that user has written. The daemon and `bloomgate learned` use it,
// also at the same time: it is an SQLite file in WAL mode. An object is for one thread.
//
// The file is not trusted: a row that this code would not write, such as an address that is not canonical, is an error.
// Forgotten rows are overwritten, in the file and in its log.
//
// Each row that is added or renewed gets the next number. So a reader who has read the file once reads new rows from
// there on, and rows are in the order of their last use. Such a reader does not see that rows were forgotten; then
// changes().forgets has increased, and the file has to be read from its beginning. The people of the last forgets are
// kept for a while, so that a message that began before them teaches nothing about that person: see forgets.hpp.
//
// Other hosts may learn, too, and share what they learn as files (filter/share). If a person is to be forgotten at one
// of them, the person is forgotten here as well, once for each request: heard_forgets() says what was applied.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/learned/forgets.hpp"

namespace bloomgate {

class Database;
class Transaction;

using LearnedDay = std::chrono::sys_days;

// The last day that a row can have; it limits the daemon's memory: 16 bits, until the year 2149.
inline constexpr LearnedDay kLastLearnedDay{std::chrono::days(65535)};
// The most pairs of a file, for which the daemon's memory is made. Beyond it no pair is added.
inline constexpr std::uint64_t kMostLearned = 10'000'000;

// Both addresses are canonical: with case folded, and tags kept.
struct LearnedPair {
  std::string_view user;
  std::string_view correspondent;
  LearnedDay first_use;
  LearnedDay last_use;
};

class LearnedFile {
 public:
  enum class Access {
    read,    // the file must be there
    write,   // the file must be there
    create,  // made if it is not there, for its owner and group only
  };

  // Throws BloomgateError: cannot_open, cannot_write, bad_magic for a database of another program, unsupported_version
  // for one of a newer Bloomgate, bad_input for a damaged one.
  LearnedFile(const std::string& path, Access access);
  ~LearnedFile();
  LearnedFile(const LearnedFile&) = delete;
  LearnedFile& operator=(const LearnedFile&) = delete;

  // All functions below throw BloomgateError{bad_input} for a damaged file, {cannot_read}, and {cannot_write} if the
  // disk is full or read-only, or if another program holds the file for longer than five seconds.

  using Use = std::function<void(const LearnedPair&)>;
  // Calls `use` with each pair, in the order of the users and then of the correspondents. Passes on what `use` throws.
  void for_each(const Use& use);
  // The same for pairs with a number above `change`, in the order of their last use. Returns changes() of that moment.
  struct Changes {
    std::int64_t last = 0;     // the highest number
    std::int64_t forgets = 0;  // the number of forgets
  };
  Changes for_each_since(std::int64_t change, const Use& use);
  Changes changes();

  // The last day of use of a pair; nothing if the pair is not there.
  std::optional<LearnedDay> find(std::string_view user, std::string_view correspondent);

  // The last day of use of any pair with a correspondent in that canonical domain; nothing if there is none. Takes time
  // in proportion to the file.
  std::optional<LearnedDay> last_use_of_domain(std::string_view domain);

  // Changes if another process, or another object, has changed the file. Costs microseconds.
  std::int64_t data_version();

  struct Contact {
    std::string user;
    std::string correspondent;
    bool is_renewal = false;                 // only updates the last day, and only if the pair is still there
    std::optional<LearnedBegin> began = {};  // nothing: its message begins now
    std::uint64_t most_a_day = UINT64_MAX;   // the most pairs of the user that may be added on a day
  };
  struct Recorded {
    std::uint64_t added = 0;
    std::uint64_t renewed = 0;
    std::uint64_t no_room = 0;    // left out, since there are kMostLearned pairs
    std::uint64_t over_rate = 0;  // left out, since the user has reached the limit of this day
    std::uint64_t forgotten = 0;  // left out, since one of the two was forgotten since the message began
  };
  // Records all contacts in one step, which is on disk when it returns. If it throws, it has recorded none.
  Recorded record(std::span<const Contact> contacts, LearnedDay day);

  // Removes pairs last used before `day`, at most `most` at once. Returns how many; fewer than `most`: none are left.
  std::uint64_t expire(LearnedDay day, std::uint64_t most);

  // Removes every pair that has the person on either side. The person is an address (also with any tag after '+'),
  // `@domain`, or `@.domain` for all below it as well. Returns how many. Takes time in proportion to the file. A hash
  // of the person is kept until drop_forgets() is called for a later day.
  std::uint64_t forget(const Entry& person, LearnedDay day);
  // The same at that time, for tests.
  std::uint64_t forget(const Entry& person, LearnedDay day, std::chrono::nanoseconds time);

  // The number of forgets, and the last persons.
  Forgets forgets();
  // Stops keeping persons that were forgotten on earlier days than `day`. Those that are still to be shared are kept,
  // unless they are of earlier days than `oldest`.
  void drop_forgets(LearnedDay day, LearnedDay oldest = {});

  // For later calls of forgets() and record(): see Forgets.
  void set_rehash(Forgets::Rehash rehash) { rehash_ = std::move(rehash); }

  // A random number that identifies this file; not 0.
  std::uint64_t source();
  // Makes a new one, since changes and forgets are counted again from a lower number.
  void renew_source();

  // The last forget of another host that was applied here; `source` identifies the host's file.
  struct Heard {
    std::uint64_t source = 0;
    std::int64_t forgets = 0;
    friend bool operator==(const Heard&, const Heard&) = default;
  };
  // By host; a host is identified by a hash of its key.
  using HeardForgets = std::map<std::uint64_t, Heard>;
  HeardForgets heard_forgets();
  // Applies the forgets of a host up to heard.forgets. `people` are the people, as hashes by the key that the hosts
  // share. Removes every pair for which `is_named` holds, and returns how many. Does nothing if this was applied
  // before. Passes on what is thrown.
  using IsNamed = std::function<bool(const LearnedPair&)>;
  std::uint64_t forget_heard(std::uint64_t host, const Heard& heard, std::span<const std::uint64_t> people,
                             const IsNamed& is_named, LearnedDay day);

  // What is new since a change and a forget, from one state of the file.
  struct OwnForget {
    std::int64_t number = 0;
    std::uint64_t person = 0;  // Forgets::hash_of()
    LearnedDay day;
  };
  struct News {
    std::uint64_t source = 0;
    Changes changes;
    std::vector<OwnForget> forgets = {};  // that were requested here, in their order
    HeardForgets heard = {};
  };
  // Calls `use` with the pairs before it returns. Passes on what `use` throws.
  News news_since(const Changes& known, const Use& use);
  // Notes that all forgets up to that one were shared, by this host with that number of its key. So they are no longer
  // kept for sharing. From the first call on, forgets are kept until they are shared.
  void set_shared(std::int64_t forgets, std::uint64_t host);
  // That number of the host's key; 0: nothing was shared.
  std::uint64_t shared_by();

  std::uint64_t count();

 private:
  void prepare();
  void check_schema();
  struct Forget;
  std::uint64_t forget(Transaction& transaction, const Forget& wanted);

  std::unique_ptr<Database> database_;
  Forgets::Rehash rehash_;
};

}  // namespace bloomgate
