// Small files with a secret in them, such as a key: comments, and one line of standard base64. The text is wiped from
// memory when it is no longer needed. Safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// Throws BloomgateError{library_failed} if the system has no random numbers.
void require_random_numbers();

// Compares in a time that does not depend on where the texts differ; it may depend on their lengths.
bool are_equal_secrets(std::string_view one, std::string_view other) noexcept;

// A text that its destructor wipes from memory.
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

  // The one line that is not a comment; empty if there is no such line, or more than one, or if the file is too large.
  std::string_view line() const noexcept;

  // Throws BloomgateError{not_permitted} if every user of the machine may read or write it. Call it after the content
  // has proved to be a secret: another file, named by mistake, may well be readable for all.
  void require_private() const;

 private:
  std::string path_;
  std::string kind_;
  SecretText text_{0};
  unsigned mode_ = 0;
};

// Makes the file durably, readable for its owner alone. Throws BloomgateError{cannot_write}, also if `path` exists: a
// key that is overwritten is lost.
void write_secret_file(const std::string& path, std::string_view comment, std::span<const std::uint8_t> secret);

}  // namespace bloomgate
