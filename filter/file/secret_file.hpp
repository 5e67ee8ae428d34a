// Small files with a secret in them, such as a key: comments, and one line of standard base64. The text is wiped from
// memory when it is no longer needed. Safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// Throws BloomgateError{library_failed} where the system has no random numbers.
void require_random_numbers();

// In a time that does not depend on where they differ; it may on their lengths.
bool are_equal_secrets(std::string_view one, std::string_view other) noexcept;

// Wiped at the end.
class SecretText {
 public:
  explicit SecretText(std::size_t size) : text_(size, '\0') {}
  ~SecretText();
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;

  std::string& operator*() noexcept { return text_; }
  const std::string& operator*() const noexcept { return text_; }

 private:
  std::string text_;
};

class SecretFile {
 public:
  // `kind` is for messages: "a secret key". Throws BloomgateError{cannot_open, cannot_read, not_a_regular_file}.
  SecretFile(const std::string& path, std::string_view kind);

  // The one line that is no comment; empty where there is none, or another one, or the file is too large.
  std::string_view line() const noexcept;

  // Throws BloomgateError{not_permitted} where everybody on the machine may read or write it. For after its content was
  // seen to be a secret: of another file that was named by mistake, everybody may read it.
  void require_private() const;

 private:
  std::string path_;
  std::string kind_;
  SecretText text_{0};
  unsigned mode_ = 0;
};

// Makes the file, which its owner alone may read, durably. Throws BloomgateError{cannot_write}, also where there is
// something at `path`: a key that is overwritten is lost.
void write_secret_file(const std::string& path, std::string_view comment, std::span<const std::uint8_t> secret);

}  // namespace bloomgate
