// The exact store, as a B+ tree in a memory-mapped file: `peer_lmdb LIST FOLDER` reads and canonicalises the list,
// sorts it, and puts it into LMDB in order (MDB_APPEND) within one transaction, then syncs; then looks up every entry,
// in the list's order, with one thread.
#include <lmdb.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

void check(int status) {
  if (status != MDB_SUCCESS) throw std::runtime_error(std::string("LMDB: ") + mdb_strerror(status));
}

MDB_val value_of(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

// Keys that are alike are put in once.
void load(MDB_env* env, const std::vector<std::string_view>& sorted) {
  MDB_txn* transaction = nullptr;
  check(mdb_txn_begin(env, nullptr, 0, &transaction));
  MDB_dbi database = 0;
  check(mdb_dbi_open(transaction, nullptr, 0, &database));
  std::string_view last;
  for (const std::string_view key : sorted) {
    if (key == last) continue;
    last = key;
    MDB_val mdb_key = value_of(key);
    MDB_val nothing = value_of("");
    check(mdb_put(transaction, database, &mdb_key, &nothing, MDB_APPEND));
  }
  check(mdb_txn_commit(transaction));
  check(mdb_env_sync(env, 1));
}

std::uint64_t count_found(MDB_env* env, const std::vector<std::string_view>& keys) {
  MDB_txn* transaction = nullptr;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &transaction));
  MDB_dbi database = 0;
  check(mdb_dbi_open(transaction, nullptr, 0, &database));
  std::uint64_t found = 0;
  for (const std::string_view key : keys) {
    MDB_val mdb_key = value_of(key);
    MDB_val value = {};
    found += mdb_get(transaction, database, &mdb_key, &value) == MDB_SUCCESS ? 1U : 0U;
  }
  mdb_txn_abort(transaction);
  return found;
}

Json run(const std::string& list, const std::string& folder) {
  const Stopwatch build_watch;
  const Keys keys(list);
  std::vector<std::string_view> sorted = keys.keys();
  std::ranges::sort(sorted);
  MDB_env* env = nullptr;
  check(mdb_env_create(&env));
  constexpr std::size_t kMostBytesOfEntry = 512;
  check(mdb_env_set_mapsize(env, (std::size_t{64} << 20) + keys.keys().size() * kMostBytesOfEntry));
  check(mdb_env_open(env, (folder + "/store.mdb").c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0600));
  load(env, sorted);
  const double build_seconds = build_watch.seconds();

  const Stopwatch query_watch;
  if (count_found(env, keys.keys()) != keys.keys().size()) throw std::runtime_error("a member is missing");
  const double query_seconds = query_watch.seconds();
  MDB_envinfo info = {};
  MDB_stat statistics = {};
  check(mdb_env_info(env, &info));
  check(mdb_env_stat(env, &statistics));
  const std::uint64_t bytes = (info.me_last_pgno + 1) * statistics.ms_psize;
  mdb_env_close(env);
  return {{"entries", keys.keys().size()},  {"build_seconds", build_seconds}, {"bytes", bytes},
          {"query_seconds", query_seconds}, {"queries", keys.keys().size()},  {"fpr", 0}};
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: peer_lmdb LIST FOLDER\n";
    return 64;
  }
  return bloomgate::bench::run_bench([&] { return bloomgate::bench::run(argv[1], argv[2]); });
}
