// A list of tags, `v=1; a=rsa-sha256; …`, as DKIM-Signature fields and key records have it (RFC 6376 section 3.2).
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct Tag {
  std::string_view name;
  std::string_view value;  // without the white space around it; it may be folded
};

class TagList {
 public:
  // Each tag is compared with all others. Real signatures and key records have less than a fifth of this number.
  static constexpr std::size_t kMaxTags = 64;

  // The views point into `text`. Throws std::bad_alloc.
  explicit TagList(std::string_view text);

  // Whether the text is a list of at most kMaxTags tags, none of which occurs twice. White space may come before the
  // `=`.
  bool is_valid() const noexcept { return is_valid_; }

  // The value of the tag of that name, in lower case; nothing if the tag is absent, or occurs twice.
  std::optional<std::string_view> find(std::string_view name) const noexcept;

  // All tags in their order; the first kMaxTags if there are more.
  const std::vector<Tag>& tags() const noexcept { return tags_; }

 private:
  std::vector<Tag> tags_;
  bool is_valid_ = true;
};

// `text` without any space, tab or line end.
std::string without_any_space(std::string_view text);

}  // namespace bloomgate
