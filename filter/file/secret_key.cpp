#include "filter/file/secret_key.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kComment =
    "# Secret key of 'bloomgate sign': whoever has it can sign filters in your name.\n";
constexpr std::size_t kMostFileBytes = 4096;

// Text with a key in it, wiped at the end.
class SecretText {
 public:
  explicit SecretText(std::size_t size) : text_(size, '\0') {}
  ~SecretText() { sodium_memzero(text_.data(), text_.size()); }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
  std::string& operator*() noexcept { return text_; }

 private:
  std::string text_;
};

// The one line that is no comment; empty where there is none, or another one.
std::string_view only_line(std::string_view text) {
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

BloomgateError no_key(const std::string& path, std::string_view line) {
  std::string what = path + " is not the file of a secret key, as 'bloomgate sign --new-key FILE' makes it";
  if (PublicKey::parse(line)) what += "; it has a public key in it, with which nothing can be signed";
  return {ErrorCode::bad_input, what, {.path = path}};
}

void require_sodium() {
  if (sodium_init() < 0) throw BloomgateError(ErrorCode::library_failed, "libsodium has no random numbers");
}

}  // namespace

SecretKey SecretKey::make() {
  require_sodium();
  SecretKey key;
  PublicKey ignored;
  crypto_sign_keypair(ignored.bytes.data(), key.bytes_.data());
  return key;
}

SecretKey SecretKey::from_seed(std::span<const std::uint8_t, 32> seed) {
  static_assert(crypto_sign_SEEDBYTES == 32);
  SecretKey key;
  PublicKey ignored;
  crypto_sign_seed_keypair(ignored.bytes.data(), key.bytes_.data(), seed.data());
  return key;
}

SecretKey SecretKey::read_from(const std::string& path) {
  struct stat status = {};
  const FileDescriptor file = open_regular_file(path, "the file of a secret key", status);
  if (status.st_size == 0 || static_cast<std::size_t>(status.st_size) > kMostFileBytes) throw no_key(path, {});
  SecretText text(static_cast<std::size_t>(status.st_size));
  if (const int error = read_at(file.get(), std::as_writable_bytes(std::span(*text)), 0); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path, error);
  }
  const std::string_view line = only_line(*text);
  SecretKey key;
  if (!read_base64(line, key.bytes_)) throw no_key(path, line);
  // With a foreign public half each signature would give away some of the secret one.
  const SecretKey made = from_seed(std::span(key.bytes_).first<32>());
  if (sodium_memcmp(made.bytes_.data(), key.bytes_.data(), key.bytes_.size()) != 0) throw no_key(path, {});
  // Only now: of another file that was named by mistake, everybody may read it.
  if ((status.st_mode & S_IRWXO) != 0) {
    throw BloomgateError(ErrorCode::not_permitted,
                         "everybody on this machine may read or write the secret key " + path +
                             ": make another if somebody else could have, or else take that away (chmod 600 " + path +
                             ")",
                         {.path = path});
  }
  return key;
}

SecretKey::~SecretKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

void SecretKey::write_to(const std::string& path) const {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open() && errno == EEXIST) {
    throw BloomgateError(ErrorCode::cannot_write,
                         path + " is there already, and may be a key that is in use; name a new file", {.path = path});
  }
  if (!file.is_open()) throw system_error(ErrorCode::cannot_write, "make", path, errno);
  SecretText text(kComment.size() + kSecretKeyTextCharacters + 1);
  std::string& line = *text;
  std::ranges::copy(kComment, line.begin());
  sodium_bin2base64(line.data() + kComment.size(), kSecretKeyTextCharacters + 1, bytes_.data(), bytes_.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  line.back() = '\n';
  int error = write_at(file.get(), std::as_bytes(std::span(line)), 0);
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error == 0) error = sync_folder(folder_of(path));
  if (error == 0) return;
  unlink(path.c_str());
  throw system_error(ErrorCode::cannot_write, "write", path, error);
}

PublicKey SecretKey::public_key() const noexcept {
  PublicKey key;
  std::copy(bytes_.end() - PublicKey::kBytes, bytes_.end(), key.bytes.begin());
  return key;
}

SignatureBytes SecretKey::sign(std::span<const std::byte> text) const noexcept {
  static_assert(kSignatureBytes == crypto_sign_BYTES);
  SignatureBytes signature;
  crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       bytes_.data());
  return signature;
}

}  // namespace bloomgate
