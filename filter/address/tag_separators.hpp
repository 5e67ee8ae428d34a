// The characters that start a tag in a local part, as in `joe+newsletter@example.org`, and where it starts. Part of the
// profile of a filter: the builder removes tags from its entries and the daemon from its senders, by the same rule. By
// default no character starts a tag: `joe+x@` and `joe@` are two mailboxes. Pure values; safe from any thread.
//
// The rule is that of Postfix's recipient_delimiter, which makes most mailboxes with tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

class TagSeparators {
 public:
  // All characters to choose from: those that a local part may have without quotes, except letters, digits and the dot.
  // A character's position in this text is the number of its bit in a filter file.
  static constexpr std::string_view kCharacters = "!#$%&'*+-/=?^_`{|}~";
  static constexpr std::uint32_t kAllBits = (1U << kCharacters.size()) - 1;

  constexpr TagSeparators() noexcept = default;

  // The separators in `characters`, in any order; nothing if one of them is not allowed.
  static std::optional<TagSeparators> parse(std::string_view characters) noexcept;
  // The separators that a file stores; bits beyond kAllBits are ignored.
  static constexpr TagSeparators from_bits(std::uint32_t bits) noexcept { return TagSeparators(bits & kAllBits); }

  constexpr std::uint32_t bits() const noexcept { return bits_; }
  constexpr bool none() const noexcept { return bits_ == 0; }
  constexpr bool contains(char character) const noexcept {
    return (kBits[static_cast<unsigned char>(character)] & bits_) != 0;
  }
  // "+-", in the order of kCharacters. Throws std::bad_alloc.
  std::string text() const;

  // How many bytes of a local part's content (without quotes and escapes) come before its tag; all if there is none. A
  // tag starts at the first separator that is not the first character. `mailer-daemon` and `double-bounce` have no tag.
  // If the hyphen is a separator, `owner-…` and `…-request`, which belong to mailing lists, have none either.
  std::size_t untagged_bytes(std::string_view content) const noexcept {
    return none() ? content.size() : find_tag(content);
  }

  // The separators of both.
  friend constexpr TagSeparators operator|(TagSeparators a, TagSeparators b) noexcept {
    return TagSeparators(a.bits_ | b.bits_);
  }
  friend constexpr bool operator==(const TagSeparators&, const TagSeparators&) noexcept = default;

 private:
  static constexpr std::array<std::uint32_t, 256> kBits = [] {
    std::array<std::uint32_t, 256> bits{};
    for (std::size_t i = 0; i < kCharacters.size(); ++i) bits[static_cast<unsigned char>(kCharacters[i])] = 1U << i;
    return bits;
  }();

  explicit constexpr TagSeparators(std::uint32_t bits) noexcept : bits_(bits) {}
  std::size_t find_tag(std::string_view content) const noexcept;

  std::uint32_t bits_ = 0;
};

// What starts a tag at most providers of mailboxes: '+'. Assumed where no filter says which separators hold.
inline constexpr TagSeparators kUsualTagSeparators =
    TagSeparators::from_bits(1U << TagSeparators::kCharacters.find('+'));

}  // namespace bloomgate
