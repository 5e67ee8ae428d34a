// Whether huge pages would make look-ups faster: bench_huge_pages FOLDER GIB LOOK_UPS
//
// An array of so many GiB whose bits are all set, so that each look-up reads all bits of a key, as that of a listed
// sender does: mapped from a file in the folder, as the daemon has it; copied into memory of ordinary pages; and into
// memory of huge ones. The rounds go by turns. In one half each look-up waits for the answer to the last one, as that
// of a message does; in the other it does not.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "filter/layout/filter_view.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "filter/system/file_descriptor.hpp"
#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

constexpr int kRounds = 5;

class ReadOnlyFile {
 public:
  ReadOnlyFile(const std::string& path, std::size_t bytes) : bytes_(bytes) {
    const std::vector<char> ones(std::size_t{1} << 20, '\xFF');
    std::ofstream file(path, std::ios::binary);
    for (std::size_t at = 0; at < bytes; at += ones.size())
      file.write(ones.data(), static_cast<std::streamsize>(ones.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    const FileDescriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    data_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, opened.get(), 0);
    std::filesystem::remove(path);
    if (data_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    // As MappedFilter has it.
    madvise(data_, bytes, MADV_RANDOM);
  }
  ~ReadOnlyFile() { munmap(data_, bytes_); }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

AnonymousMemory copy_of(std::span<const std::byte> bytes, int advice) {
  AnonymousMemory memory(bytes.size(), "a copy");
  madvise(memory.bytes().data(), memory.bytes().size(), advice);
  std::memcpy(memory.bytes().data(), bytes.data(), bytes.size());
  return memory;
}

// Of all memory of this process.
std::uint64_t huge_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  std::uint64_t kib = 0;
  while (file >> word && word != "AnonHugePages:") continue;
  file >> kib;
  return kib << 10;
}

// Nanoseconds for each.
double time_look_ups(const FilterView& view, std::uint64_t look_ups, bool is_chain, std::uint64_t& found) {
  char key[] = "0123456789abcdef@example.org";
  const Stopwatch watch;
  std::uint64_t state = found;
  for (std::uint64_t number = 0; number < look_ups; ++number) {
    state = (state + number) * 0x9E3779B97F4A7C15U + 1;
    std::memcpy(key, &state, sizeof state);
    found += view.may_contain({key, sizeof key - 1}) ? 1U : 0U;
    // Else the processor guesses that it is listed, and begins the next one.
    if (is_chain) std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  return watch.seconds() / static_cast<double>(look_ups) * 1e9;
}

Json compare(const std::string& folder, std::uint64_t gib, std::uint64_t look_ups) {
  const ReadOnlyFile file(folder + "/huge-pages.bits", gib << 30);
  const AnonymousMemory ordinary = copy_of(file.bytes(), MADV_NOHUGEPAGE);
  const std::uint64_t before = huge_bytes();
  const AnonymousMemory huge = copy_of(file.bytes(), MADV_HUGEPAGE);
  Json result = {{"gib", gib}, {"share_in_huge_pages", double(huge_bytes() - before) / double(gib << 30)}};
  struct Kind {
    const char* name;
    std::span<const std::byte> bytes;
  };
  const Kind kinds[] = {
      {"mapped file", file.bytes()}, {"ordinary pages", ordinary.bytes()}, {"huge pages", huge.bytes()}};
  std::uint64_t found = 1;
  for (const Layout layout : {Layout::page, Layout::classic}) {
    FilterShape shape = {.layout = layout, .seed = 42};
    if (layout == Layout::classic) shape.block_bytes = 8;
    shape.block_count = (gib << 30) / shape.block_bytes;
    for (const bool is_chain : {true, false}) {
      for (int round = 0; round < kRounds; ++round) {
        for (const Kind& kind : kinds) {
          result[layout == Layout::page ? "page" : "classic"][is_chain ? "one after the other" : "independent"]
                [kind.name]
                    .push_back(time_look_ups(FilterView(shape, kind.bytes), look_ups, is_chain, found));
        }
      }
    }
  }
  result["found"] = found;
  return result;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{} || number == 0)
    throw std::runtime_error("expected a number of at least 1: " + std::string(text));
  return number;
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  using namespace bloomgate::bench;
  return run_bench([&] {
    if (argc != 4) throw std::runtime_error("usage: bench_huge_pages FOLDER GIB LOOK_UPS");
    return compare(argv[1], number_of(argv[2]), number_of(argv[3]));
  });
}
