// A folder that lives as long as the test that made it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace bloomgate::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& place) {
    std::string name = (place / "bloomgate-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A test case in a folder of its own.
struct InFolder {
  TemporaryFolder folder;
};

// The same with the path of the file that it is about, which is not there yet.
struct WithPath : InFolder {
  const std::string path = folder.file("file");
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  // In pieces, for a file of /proc does not say how large it is. Byte by byte, it took a sanitized test half its time.
  std::string content;
  std::size_t size = 0;
  while (file) {
    content.resize(size + std::max<std::size_t>(size, 4096));
    file.read(content.data() + size, static_cast<std::streamsize>(content.size() - size));
    size += static_cast<std::size_t>(file.gcount());
  }
  content.resize(size);
  return content;
}

inline void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// As if it had been written an hour ago: a write from now on shows in its time, however coarse the file system's clock.
inline void make_old(const std::filesystem::path& path) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

}  // namespace bloomgate::test
