// Opens arbitrary bytes as the database of what is learned, and does with it all that the programs do. An even first
// byte: the rest is the file. An odd one: the rest changes bytes of a sound database, three for each: where (two), and
// by what. Whatever is read must be as we write it.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/learned/learned_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace bloomgate;

constexpr LearnedDay kDay{std::chrono::days(20'780)};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void remove(const std::string& path) {
  for (const char* end : {"", "-wal", "-shm"}) unlink((path + end).c_str());
}

std::string sound_database(const std::string& path) {
  {
    LearnedFile file(path, LearnedFile::Access::create);
    file.record(std::vector<LearnedFile::Contact>{{"ann@ours.example", "joe@example.org"},
                                                  {"bob@ours.example", "zoe@example.org"}},
                kDay);
  }
  const std::string bytes = read(path);  // the last one to close it has emptied its log
  remove(path);
  return bytes;
}

void use(const std::string& path, LearnedFile::Access access) {
  LearnedFile file(path, access);
  const auto check = [](const LearnedPair& pair) {
    for (const std::string_view address : {pair.user, pair.correspondent}) {
      if (canonicalize_path(address).key() != address || address.empty()) std::abort();
    }
    if (pair.last_use < pair.first_use || pair.last_use > kLastLearnedDay) std::abort();
  };
  file.for_each(check);
  file.for_each_since(1, check);
  file.data_version();
  if (access == LearnedFile::Access::read) return;
  file.record(
      std::vector<LearnedFile::Contact>{{"ann@ours.example", "joe@example.org"}, {"x@ours.example", "y@z.example"}},
      kDay);
  file.expire(kDay, 10);
  file.forget(canonicalize_line("@ours.example"), kDay);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TemporaryFolder folder;
  static const std::string path = folder.file("learned.db");
  static const std::string sound = sound_database(path);
  if (size == 0) return 0;
  std::string bytes;
  if (data[0] % 2 == 0) {
    bytes.assign(data + 1, data + size);
  } else {
    bytes = sound;
    for (std::size_t at = 1; at + 3 <= size; at += 3) {
      char& byte = bytes[(data[at] + 256U * data[at + 1]) % bytes.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(data[at + 2]));
    }
  }
  for (const LearnedFile::Access access : {LearnedFile::Access::read, LearnedFile::Access::create}) {
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      use(path, access);
    } catch (const BloomgateError&) {
      // Refused: the usual end.
    }
    remove(path);
  }
  return 0;
}
