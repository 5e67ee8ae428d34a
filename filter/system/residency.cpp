#include "filter/system/residency.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30;  // mapped at a time; one byte of the answer a page

bool kernel_tells(int file, const std::string& path) {
  struct stat status = {};
  return access(path.c_str(), W_OK) == 0 || (fstat(file, &status) == 0 && status.st_uid == geteuid());
}

}  // namespace

std::optional<std::uint64_t> resident_bytes(int file, std::uint64_t bytes, const std::string& path) {
  if (!kernel_tells(file, path)) return std::nullopt;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages;
  std::uint64_t resident = 0;
  for (std::uint64_t begin = 0; begin < bytes; begin += kWindowBytes) {
    const auto window = static_cast<std::size_t>(std::min(kWindowBytes, bytes - begin));
    void* const mapping = mmap(nullptr, window, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin));
    if (mapping == MAP_FAILED) throw system_error(ErrorCode::cannot_open, "map", path, errno);
    pages.resize((window + page_bytes - 1) / page_bytes);
    const int failure = mincore(mapping, window, pages.data()) == 0 ? 0 : errno;
    munmap(mapping, window);
    if (failure != 0) throw system_error(ErrorCode::cannot_open, "mincore", path, failure);
    // The lowest bit is the answer. The last page of the file may be only partly used.
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if ((pages[i] & 1) != 0) resident += std::min<std::uint64_t>(page_bytes, window - i * page_bytes);
    }
  }
  return resident;
}

}  // namespace bloomgate
