#include "filter/system/available_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace bloomgate {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// The number after `name` in a file of lines such as `MemAvailable: 123 kB`, or the first number if `name` is empty.
// Nothing if it is missing, or is a word ("max").
std::optional<std::uint64_t> number_in(const std::string& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::uint64_t number = 0;
    if (std::istringstream(line.substr(name.size())) >> number) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

std::uint64_t less(std::uint64_t limit, std::uint64_t used) {
  return limit - std::min(limit, used);
}

std::uint64_t free_memory(const std::string& root) {
  const auto kilobytes = number_in(root + "/proc/meminfo", "MemAvailable:");
  return kilobytes ? *kilobytes * 1024 : kUnlimited;
}

std::uint64_t left_of_address_space(const std::string& root) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t pages = number_in(root + "/proc/self/statm", "").value_or(0);
  return less(limit.rlim_cur, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

// What the control group `folder` leaves of its limit. Cached files do not count, since they are dropped when memory is
// needed.
std::uint64_t left_of_group(const std::string& folder, const char* limit_file, const char* used_name) {
  const auto limit = number_in(folder + "/" + limit_file, "");
  if (!limit) return kUnlimited;
  return less(*limit, number_in(folder + "/memory.stat", used_name).value_or(0));
}

// The limits of our control group and of all above it. A line of /proc/self/cgroup is `0::/path` (version 2) or
// `4:memory:/path` (version 1); see cgroups(7).
std::uint64_t left_of_groups(const std::string& root) {
  std::uint64_t left = kUnlimited;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const bool version_2 = line.starts_with("0::");
    const std::size_t memory = line.find(":memory:");
    if (!version_2 && memory == std::string::npos) continue;
    const std::string base = root + (version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    std::string path = line.substr(version_2 ? 3 : memory + std::string_view(":memory:").size());
    while (true) {
      left = std::min(left, version_2 ? left_of_group(base + path, "memory.max", "anon ")
                                      : left_of_group(base + path, "memory.limit_in_bytes", "total_rss "));
      const std::size_t parent = path.rfind('/');
      if (parent == std::string::npos) break;
      path.resize(parent);
    }
  }
  return left;
}

}  // namespace

std::uint64_t available_memory(const std::string& root) {
  return std::min({free_memory(root), left_of_address_space(root), left_of_groups(root)});
}

}  // namespace bloomgate
