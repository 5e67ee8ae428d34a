// The entries of lists and stores, more than memory holds: they come out as they went in, and are counted.
#include "filter/gather/gathered_entries.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kMany = kEntriesAtOnce + 100'000;

// Even over their range, and each another one.
std::vector<KeyHash> many_hashes(KeyHash first) {
  std::vector<KeyHash> hashes(kMany);
  for (KeyHash& hash : hashes) hash = (first += 0x9e37'79b9'7f4a'7c15);
  return hashes;
}

std::vector<KeyHash> all_of(const GatheredHashes& hashes) {
  std::vector<KeyHash> all;
  hashes.for_each_once(2, [&](std::span<const KeyHash> run) { all.insert(all.end(), run.begin(), run.end()); });
  return all;
}

std::vector<KeyHash> all_of(const GatheredDomains& domains) {
  std::vector<KeyHash> all;
  domains.for_each_hash(2, [&](std::span<const KeyHash> run) { all.insert(all.end(), run.begin(), run.end()); });
  return all;
}

std::vector<KeyHash> sorted(std::vector<KeyHash> hashes) {
  std::ranges::sort(hashes);
  return hashes;
}

TEST_CASE_METHOD(InFolder, "hashes of any kind that do not fit into memory go to the disk and come back") {
  enum class Kind { address, domain, sender_domain };
  const Kind kind = GENERATE(Kind::address, Kind::domain, Kind::sender_domain);
  CAPTURE(static_cast<int>(kind));
  GatheredEntries entries({}, 1, 1, folder.path(), true);
  std::vector<KeyHash> want;
  for (const KeyHash first : {1U, 2U}) {
    const std::vector<KeyHash> hashes = many_hashes(first);
    want.insert(want.end(), hashes.begin(), hashes.end());
    if (kind == Kind::sender_domain) {
      entries.add_stored_sender_domains(hashes);
      continue;
    }
    for (std::size_t at = 0; at < hashes.size(); at += kMany / 5) {
      if (!entries.has_room_for(kMany / 5)) entries.flush();
      REQUIRE(entries.has_room_for(kMany / 5));
      const auto some = std::span(hashes).subspan(at, kMany / 5);
      kind == Kind::address ? entries.lane(0).add_stored(some) : entries.lane(0).add_stored_domains(some);
      entries.lane(0).settle();
    }
  }
  CHECK(entries.spilled_bytes() > 0);
  CHECK(entries.spilled_bytes() <= want.size() * sizeof(KeyHash));
  CHECK(entries.added() == (kind == Kind::address ? want.size() : 0));
  want = sorted(want);
  CHECK((all_of(entries.addresses()) == (kind == Kind::address ? want : std::vector<KeyHash>{})));
  CHECK((all_of(entries.domains()) == (kind == Kind::domain ? want : std::vector<KeyHash>{})));
  CHECK((all_of(*entries.sender_domains()) == (kind == Kind::sender_domain ? want : std::vector<KeyHash>{})));
}

TEST_CASE_METHOD(InFolder, "entries are counted over all lanes, whether they come from a list or from a store") {
  GatheredEntries entries({}, 2, 1, folder.path());
  CHECK_FALSE(entries.gathers_sender_domains());
  CHECK(entries.sender_domains() == nullptr);
  for (const char* const line : {"joe@example.org", "joe@example.org > ann@ours.example", "@example.org"}) {
    entries.lane(0).add(canonicalize_list_line(line, {}));
  }
  for (const char* const line : {"ann@example.org > bob@ours.example", "@example.org > bob@ours.example"}) {
    entries.lane(1).add(canonicalize_list_line(line, {}));
  }
  CHECK(entries.kinds() == KindsHeld{.pairs_in_bits = 2, .domain_pairs = true});
  CHECK(entries.added() == 3);
  const std::vector<KeyHash> stored = {1, 2, 3};
  entries.lane(1).add_stored(stored);
  entries.lane(1).add_stored_domains(stored);
  entries.lane(1).add_stored_sender_domains(stored);
  entries.lane(1).note_repeated(5);
  entries.lane(1).note_stored_kinds({.pairs_in_bits = 1, .signers = true});
  CHECK(entries.kinds() == KindsHeld{.pairs_in_bits = 3, .domain_pairs = true, .signers = true});
  CHECK(entries.added() == 11);
  for (const unsigned lane : {0U, 1U}) entries.lane(lane).settle();
  CHECK(all_of(entries.addresses()).size() == 6);
  CHECK(all_of(entries.domains()).size() == 5);
  CHECK(entries.spilled_bytes() == 0);
}

TEST_CASE_METHOD(InFolder, "hashes that cannot go to the disk are an error that names the folder") {
  const auto check = [](const BloomgateError& error, const std::string& what) {
    CHECK(error.code() == ErrorCode::cannot_write);
    CHECK_THAT(std::string(error.what()), Contains(what));
  };
  check(error_of([&] { HashSpill spill(folder.file("none"), 1); }),
        "create a temporary file in " + folder.file("none"));
  HashPartitions hashes(0, 1, 1 << 20);
  for (KeyHash hash = 0; hash < 1000; ++hash) hashes.lane(0).add(hash);
  HashSpill spill(folder.path(), 1);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const BloomgateError error = error_of([&] { spill.take(hashes, 1); });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  check(error, "to a temporary file in " + folder.path().string() + ": File too large");
}

}  // namespace
}  // namespace bloomgate::test
