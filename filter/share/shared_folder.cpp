#include "filter/share/shared_folder.hpp"

#include <array>
#include <filesystem>
#include <span>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/signature.hpp"
#include "filter/share/shared_pairs.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {

void require_shared(const Manifest& manifest, const std::string& path) {
  std::uint64_t room = 2 * kMostSharedFileBytes;
  for (const PublishedFile& file : manifest.files) {
    if (file.bytes > room) {
      throw BloomgateError(ErrorCode::bad_input,
                           path + " names more than " + std::to_string(2 * kMostSharedFileBytes) +
                               " bytes, which is more than one host can have learned",
                           {.path = path});
    }
    room -= file.bytes;
    if (number_of_shared_file(file.name) != 0) continue;
    throw BloomgateError(ErrorCode::bad_input,
                         path + " names " + file.name +
                             ", which is no file of learned pairs; name the folder of what 'bloomgate share' makes",
                         {.path = path});
  }
}

std::uint64_t host_id(const PublicKey& key) noexcept {
  const Digest digest = digest_of(std::as_bytes(std::span(key.bytes)));
  return load_little_endian<std::uint64_t>(reinterpret_cast<const std::byte*>(digest.data()));
}

std::uint64_t forgets_id(std::uint64_t host, std::uint64_t source) noexcept {
  std::array<std::byte, 2 * sizeof(std::uint64_t)> text;
  store_little_endian(text.data(), host);
  store_little_endian(text.data() + sizeof host, source);
  const Digest digest = digest_of(text);
  return load_little_endian<std::uint64_t>(reinterpret_cast<const std::byte*>(digest.data()));
}

std::string read_shared_file(const std::string& folder, const PublishedFile& file) {
  const std::string path = (std::filesystem::path(folder) / file.name).string();
  if (file.bytes > kMostSharedFileBytes) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " is published with " + std::to_string(file.bytes) + " bytes, and may have " +
                             std::to_string(kMostSharedFileBytes) + " at most",
                         {.path = path});
  }
  struct stat status = {};
  const FileDescriptor in = open_regular_file(path, "a file of learned pairs", status);
  std::string bytes;
  if (static_cast<std::uint64_t>(status.st_size) == file.bytes) {
    bytes.resize(file.bytes);
    if (const int error = read_at(in.get(), std::as_writable_bytes(std::span(bytes)), 0); error != 0) {
      throw system_error(ErrorCode::cannot_read, "read", path, error);
    }
    if (digest_of(std::as_bytes(std::span(bytes))) == file.digest) return bytes;
  }
  throw BloomgateError(ErrorCode::bad_input,
                       path +
                           " is not the file that the manifest names; pull the folder again (bloomgate pull), or "
                           "share it again where it is made (bloomgate share)",
                       {.path = path});
}

}  // namespace bloomgate
