// What an exact list costs the daemon: the time to load it from its file, the memory that it stays in, and a look-up.
//
// usage: bench_exact_list [ENTRIES]    (1,000,000 by default)
//
// Times are processor time of this process. Exits with 1 where loading takes a second or more.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "milter/lists/exact_list_file.hpp"
#include "tests/bench/processor_time.hpp"

namespace {

using namespace bloomgate;

void write_list(const std::string& path, unsigned entries) {
  std::ofstream file(path);
  for (unsigned i = 0; i < entries; ++i) {
    // One in a hundred is a domain, so that look-ups ask for domains and trees, too.
    if (i % 100 == 0) {
      file << (i % 200 == 0 ? "@" : "@.") << "domain" << i << ".example\n";
    } else {
      file << "User" << i << "@company" << i % 1000 << ".example.org\n";
    }
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// Nanoseconds for each of `senders`.
double time_look_ups(const ExactList& list, const std::vector<std::string>& senders, bool listed) {
  std::vector<Entry> entries;
  entries.reserve(senders.size());
  for (const std::string& sender : senders) entries.push_back(canonicalize_path(sender));
  const TagSeparators plus = *TagSeparators::parse("+");
  const double start = bench::processor_seconds();
  std::size_t found = 0;
  for (const Entry& entry : entries) {
    if (list.find(entry, plus).is_listed()) ++found;
  }
  const double seconds = bench::processor_seconds() - start;
  if (found != (listed ? senders.size() : 0)) throw std::runtime_error("the list found something else");
  return seconds * 1e9 / static_cast<double>(senders.size());
}

}  // namespace

int main(int argc, char** argv) try {
  const unsigned entries = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 1'000'000;
  const auto path = std::filesystem::temp_directory_path() / ("bloomgate-exact-list-" + std::to_string(getpid()));
  write_list(path, entries);
  const double start = bench::processor_seconds();
  const ExactList list = load_exact_list(path).list;
  const double load_seconds = bench::processor_seconds() - start;
  const auto file_bytes = std::filesystem::file_size(path);
  std::filesystem::remove(path);

  std::vector<std::string> listed;
  std::vector<std::string> strangers;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const std::uint64_t number = i * 7919 % entries / 100 * 100 + 1 + i % 99;  // of an address
    if (number >= entries) continue;
    listed.push_back("user" + std::to_string(number) + "@company" + std::to_string(number % 1000) + ".example.org");
    strangers.push_back("stranger" + std::to_string(i) + "@company" + std::to_string(number % 1000) + ".example.org");
  }
  std::cout << "entries            " << list.size() << "\nfile               " << file_bytes
            << " bytes\nload               " << load_seconds << " s\nmemory             " << list.memory_bytes()
            << " bytes\nlook-up, listed    " << time_look_ups(list, listed, true) << " ns\nlook-up, unlisted  "
            << time_look_ups(list, strangers, false) << " ns\n";
  return load_seconds < 1 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::cerr << "bench_exact_list: " << error.what() << '\n';
  return EXIT_FAILURE;
}
