// What one other host has learned and shares (filter/share), in memory.
//
// Another host may still share pairs of a person who was forgotten, because it has not yet applied that, or is down. A
// look-up has the addresses in question, so it can exclude people who were forgotten meanwhile: see set_pending().
//
// The host is trusted for the question to whom its users have written, and for nothing else. What it shares is bounded
// in size. Its hashes are hashed again with a seed of this process, so it cannot choose their position in memory.
//
// Look-ups are safe from any thread; the rest is for one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/share/learn_key.hpp"
#include "filter/share/shared_pairs.hpp"
#include "milter/learning/known_pairs.hpp"

namespace bloomgate {

// People who were forgotten, as hashes: LearnKey::hash_of_person().
using ForgottenPeople = std::unordered_set<std::uint64_t>;

// Whether `people` contains the user or the correspondent, two canonical addresses.
bool name_either(const ForgottenPeople& people, const LearnKey& key, std::string_view user,
                 std::string_view correspondent) noexcept;

class HeardPairs {
 public:
  using Day = PairTable::Day;

  explicit HeardPairs(const LearnKey& key);

  // The last day of use; nothing: that host has not learned the pair, or it was forgotten.
  std::optional<Day> find(std::string_view user, std::string_view correspondent) const noexcept;
  std::optional<Day> find_domain(std::string_view domain) const noexcept;

  static constexpr std::size_t kMostPeople = 100'000;
  static constexpr std::size_t kMostApplied = 1'000;

  // Loads what is new in the folder, as its manifest names it. Throws BloomgateError{bad_input, bad_magic,
  // unsupported_version} with the remedy, {cannot_open, cannot_read}. After an error the earlier state remains,
  // possibly with some of the new pairs.
  void take(const std::string& folder, const SignedManifest& manifest);

  // Drops all pairs; the forgotten people stay.
  void clear_pairs();

  // The host, by its key, and the source of its database; 0: nothing was loaded.
  std::uint64_t host() const noexcept { return host_; }
  std::uint64_t source() const noexcept { return header_.source; }
  // The people whom the host has forgotten, by the number of the forget.
  const std::map<std::int64_t, std::uint64_t>& people() const noexcept { return people_; }
  // Up to which number the host has applied the forgets of each other host: by forgets_id().
  const std::map<std::uint64_t, std::int64_t>& applied() const noexcept { return applied_; }

  // The people whom other hosts have forgotten, and this one not yet.
  void set_pending(ForgottenPeople people);

  std::size_t size() const noexcept;   // pairs
  std::size_t bytes() const noexcept;  // memory

 private:
  KeyHash mixed(std::uint64_t hash) const noexcept;
  void apply(const SharedPairs& pairs, PairTable& table);
  std::shared_ptr<PairTable> table() const noexcept;

  const LearnKey key_;
  const std::uint64_t seed_ = random_seed();
  mutable std::mutex mutex_;
  std::shared_ptr<PairTable> table_;  // never null
  std::shared_ptr<const ForgottenPeople> pending_;

  std::vector<PublishedFile> taken_;  // the files that are in the table, in its order
  SharedHeader header_;               // of the last file
  std::map<std::int64_t, std::uint64_t> people_;
  std::map<std::uint64_t, std::int64_t> applied_;
  std::uint64_t host_ = 0;
};

}  // namespace bloomgate
