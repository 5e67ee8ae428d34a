// RocksDB's Bloom filter: `peer_rocksdb LIST FOLDER`. Its public interface has no filter by itself, only as a part of a
// sorted table; so this reads and canonicalises the list, sorts it, writes one table file with a filter of 8 bits an
// entry (NewBloomFilterPolicy), takes it into a database, and asks that with one thread: for every entry in the list's
// order, and for as many strangers, of which the filter's own counters tell the false positives.
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

void check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error("RocksDB: " + status.ToString());
}

rocksdb::Slice slice_of(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

rocksdb::Options options_with_filter() {
  constexpr double kBitsPerEntry = 8;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBitsPerEntry));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Keys that are alike are put in once.
std::uint64_t write_table(const rocksdb::Options& options, const std::string& path,
                          const std::vector<std::string_view>& sorted) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  check(writer.Open(path));
  std::string_view last;
  for (const std::string_view key : sorted) {
    if (key == last) continue;
    last = key;
    check(writer.Put(slice_of(key), rocksdb::Slice()));
  }
  rocksdb::ExternalSstFileInfo info;
  check(writer.Finish(&info));
  return info.file_size;
}

Json run(const std::string& list, const std::string& folder) {
  const rocksdb::Options options = options_with_filter();
  const Stopwatch build_watch;
  const Keys keys(list);
  std::vector<std::string_view> sorted = keys.keys();
  std::ranges::sort(sorted);
  const std::string table = folder + "/table.sst";
  const std::uint64_t bytes = write_table(options, table, sorted);
  rocksdb::DB* opened = nullptr;
  check(rocksdb::DB::Open(options, folder + "/rocksdb", &opened));
  const std::unique_ptr<rocksdb::DB> database(opened);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  check(database->IngestExternalFile({table}, ingest));
  const double build_seconds = build_watch.seconds();

  std::string value;
  const Stopwatch query_watch;
  for (const std::string_view key : keys.keys()) {
    check(database->Get(rocksdb::ReadOptions(), slice_of(key), &value));
  }
  const double query_seconds = query_watch.seconds();

  check(options.statistics->Reset());
  const Stopwatch stranger_watch;
  for (const std::string_view key : keys.keys()) {
    if (!database->Get(rocksdb::ReadOptions(), stranger_of(key), &value).IsNotFound()) {
      throw std::runtime_error("a stranger was found");
    }
  }
  const auto passed = options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  rocksdb::TablePropertiesCollection properties;
  check(database->GetPropertiesOfAllTables(&properties));
  std::uint64_t filter_bytes = 0;
  for (const auto& [name, of_table] : properties) filter_bytes += of_table->filter_size;
  return {{"entries", keys.keys().size()},
          {"build_seconds", build_seconds},
          {"bytes", bytes},
          {"filter_bytes", filter_bytes},
          {"query_seconds", query_seconds},
          {"queries", keys.keys().size()},
          {"stranger_seconds", stranger_watch.seconds()},
          {"fpr", static_cast<double>(passed) / static_cast<double>(keys.keys().size())}};
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: peer_rocksdb LIST FOLDER\n";
    return 64;
  }
  return bloomgate::bench::run_bench([&] { return bloomgate::bench::run(argv[1], argv[2]); });
}
