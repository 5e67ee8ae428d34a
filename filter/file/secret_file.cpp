#include "filter/file/secret_file.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostFileBytes = 4096;

}  // namespace

void require_random_numbers() {
  if (sodium_init() < 0) throw BloomgateError(ErrorCode::library_failed, "libsodium has no random numbers");
}

bool are_equal_secrets(std::string_view one, std::string_view other) noexcept {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

SecretText::~SecretText() {
  sodium_memzero(text_.data(), text_.size());
}

SecretFile::SecretFile(const std::string& path, std::string_view kind) : path_(path), kind_(kind) {
  struct stat status = {};
  const FileDescriptor file = open_regular_file(path, "the file of " + kind_, status);
  mode_ = status.st_mode;
  if (static_cast<std::size_t>(status.st_size) > kMostFileBytes) return;
  (*text_).resize(static_cast<std::size_t>(status.st_size));
  if (const int error = read_at(file.get(), std::as_writable_bytes(std::span(*text_)), 0); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path, error);
  }
}

std::string_view SecretFile::line() const noexcept {
  std::string_view text = *text_;
  std::string_view found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (!found.empty()) return {};
    found = line;
  }
  return found;
}

void SecretFile::require_private() const {
  if ((mode_ & S_IRWXO) == 0) return;
  throw BloomgateError(ErrorCode::not_permitted,
                       "everybody on this machine may read or write " + path_ + ", the file of " + kind_ +
                           ": make another if somebody else could have, or else take that away (chmod o= " +
                           shell_word(path_, "FILE") + ")",
                       {.path = path_});
}

void write_secret_file(const std::string& path, std::string_view comment, std::span<const std::uint8_t> secret) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open() && errno == EEXIST) {
    throw BloomgateError(ErrorCode::cannot_write,
                         path + " is there already, and may be a key that is in use; name a new file", {.path = path});
  }
  if (!file.is_open()) throw system_error(ErrorCode::cannot_write, "make", path, errno);
  const std::size_t characters = sodium_base64_encoded_len(secret.size(), sodium_base64_VARIANT_ORIGINAL);  // and a NUL
  SecretText text(comment.size() + characters);
  std::ranges::copy(comment, (*text).begin());
  sodium_bin2base64((*text).data() + comment.size(), characters, secret.data(), secret.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  (*text).back() = '\n';
  int error = write_at(file.get(), std::as_bytes(std::span(*text)), 0);
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error == 0) error = sync_folder(folder_of(path));
  if (error == 0) return;
  unlink(path.c_str());
  throw system_error(ErrorCode::cannot_write, "write", path, error);
}

}  // namespace bloomgate
