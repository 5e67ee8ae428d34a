// What the daemon has learned from outgoing mail: a database of pairs, a user of ours and a correspondent to whom that
// user has written, with the days of the first and the last use. Used by the daemon and by `bloomgate learned`, also at
// the same time: it is an SQLite file in WAL mode. An object is for one thread.
//
// The file is not trusted: a row that is not as it would be written here, such as an address that is not in its
// canonical form, is an error. What is forgotten is overwritten, in the file and in its log.
//
// Each row that is added or renewed gets the next number. So whoever has read the file once reads what is new from
// there on, and rows are in the order of their last use. Rows that were forgotten are missed that way:
// changes().forgets counts up, and the file has to be read from its beginning. Whom the last forgets have named is kept
// for a while, so that a message that began before them teaches nothing of that person: see forgets.hpp.
//
// Other hosts may learn, too, and share what they learn as files (filter/share). What is asked to be forgotten at one
// of them is forgotten here as well, each time once: heard_forgets() says what has been.
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

// The days that a row can have, and thus the memory of the daemon: 16 bits, until the year 2149.
inline constexpr LearnedDay kLastLearnedDay{std::chrono::days(65535)};
// Past it nothing is added: what the daemon's memory is made for.
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

  // All others throw BloomgateError{bad_input} for a damaged file, {cannot_write} for a full or read-only disk, or
  // where another program holds the file for longer than five seconds, {cannot_read}.

  using Use = std::function<void(const LearnedPair&)>;
  // Calls `use` with each pair, in the order of the users and then of the correspondents. Passes on what it throws.
  void for_each(const Use& use);
  // The same for those with a number above `change`, in the order of their last use. Returns what changes() was then.
  struct Changes {
    std::int64_t last = 0;     // the highest number
    std::int64_t forgets = 0;  // how often something was forgotten
  };
  Changes for_each_since(std::int64_t change, const Use& use);
  Changes changes();

  // The last day of use of a pair; nothing: it is not there.
  std::optional<LearnedDay> find(std::string_view user, std::string_view correspondent);

  // The last day of use of any pair with a correspondent in that canonical domain; nothing: there is none. Takes time
  // in proportion to the file.
  std::optional<LearnedDay> last_use_of_domain(std::string_view domain);

  // Differs from before if another process, or another object, has changed the file since. Costs microseconds.
  std::int64_t data_version();

  struct Contact {
    std::string user;
    std::string correspondent;
    bool is_renewal = false;                 // the last day only, and not if the pair is no longer there
    std::optional<LearnedBegin> began = {};  // nothing: its message begins now
    std::uint64_t most_a_day = UINT64_MAX;   // pairs of the user that are added on a day
  };
  struct Recorded {
    std::uint64_t added = 0;
    std::uint64_t renewed = 0;
    std::uint64_t no_room = 0;    // left out, as there are kMostLearned
    std::uint64_t over_rate = 0;  // left out, as the user has as many of this day as may be
    std::uint64_t forgotten = 0;  // left out, as one of the two was forgotten since the message began
  };
  // In one step, which is on disk when it returns: all of them or, with an exception, none.
  Recorded record(std::span<const Contact> contacts, LearnedDay day);

  // Takes out those last used before `day`, at most `most` at once. Returns how many; fewer than `most`: that was all.
  std::uint64_t expire(LearnedDay day, std::uint64_t most);

  // Takes out every pair that has the person on either side: an address with its tags after '+', `@domain`, or
  // `@.domain` for all below it as well. Returns how many. Takes time in proportion to the file. The person is kept as
  // a hash until drop_forgets() is called for a later day.
  std::uint64_t forget(const Entry& person, LearnedDay day);
  // The same at that time, for tests.
  std::uint64_t forget(const Entry& person, LearnedDay day, std::chrono::nanoseconds time);

  // How often something was forgotten, and the last persons.
  Forgets forgets();
  // The persons of earlier days than that are not kept any longer; but those are that are still to be shared, if they
  // are not of earlier days than `oldest`.
  void drop_forgets(LearnedDay day, LearnedDay oldest = {});

  // For forgets() from now on, and for record(): see Forgets.
  void set_rehash(Forgets::Rehash rehash) { rehash_ = std::move(rehash); }

  // A random number that no other file has; not 0.
  std::uint64_t source();
  // Another one, since changes and forgets are counted from a lower number on again.
  void renew_source();

  // Which forget of another host was the last that was applied here: of its file with that source.
  struct Heard {
    std::uint64_t source = 0;
    std::int64_t forgets = 0;
    friend bool operator==(const Heard&, const Heard&) = default;
  };
  // By the hosts, which are known by their keys.
  using HeardForgets = std::map<std::uint64_t, Heard>;
  HeardForgets heard_forgets();
  // The people whom the host has forgotten up to heard.forgets, as hashes by the key that the hosts have in common:
  // takes out every pair for which `is_named` holds. Returns how many. Does nothing where it was applied before. Passes
  // on what is thrown.
  using IsNamed = std::function<bool(const LearnedPair&)>;
  std::uint64_t forget_heard(std::uint64_t host, const Heard& heard, std::span<const std::uint64_t> people,
                             const IsNamed& is_named, LearnedDay day);

  // What is new since a change and a forget, as one state of the file.
  struct OwnForget {
    std::int64_t number = 0;
    std::uint64_t person = 0;  // Forgets::hash_of()
    LearnedDay day;
  };
  struct News {
    std::uint64_t source = 0;
    Changes changes;
    std::vector<OwnForget> forgets = {};  // that were asked for here, in their order
    HeardForgets heard = {};
  };
  // `use` is called with the pairs before it returns. Passes on what that throws.
  News news_since(const Changes& known, const Use& use);
  // All forgets up to that one were shared, by this host under that number of its key: so they are no longer kept for
  // it. From the first call on, forgets are kept until they are shared.
  void set_shared(std::int64_t forgets, std::uint64_t host);
  // That number; 0: nothing was shared.
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
