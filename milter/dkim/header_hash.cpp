#include "milter/dkim/header_hash.hpp"

#include <sodium.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "filter/mail/mail_header.hpp"
#include "milter/fields/tag_list.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// The value of the tag b, as a part of the value of a DKIM-Signature field.
std::optional<std::string_view> place_of_signature(std::string_view value) noexcept {
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find(';', begin), value.size());
    const std::string_view tag = value.substr(begin, end - begin);
    const std::size_t equals = tag.find('=');
    if (equals != std::string_view::npos && without_folding_space(tag.substr(0, equals)) == "b") {
      return tag.substr(equals + 1);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

std::string relaxed(std::string_view field) {
  const auto [name, value] = split_field(field);
  std::string text = ascii::lower_case(name) + ":";
  bool has_space = false;
  for (const char byte : without_folding_space(value)) {
    if (byte == '\r' || byte == '\n') continue;
    const bool is_space = byte == ' ' || byte == '\t';
    if (is_space && !has_space) text += ' ';
    if (!is_space) text += byte;
    has_space = is_space;
  }
  return text;
}

// The last field of that name that is not used yet; nothing if there is none.
std::optional<std::size_t> take_last(std::span<const std::string_view> header, std::string_view name,
                                     std::vector<bool>& used) {
  for (std::size_t index = header.size(); index-- > 0;) {
    if (used[index] || !ascii::equal_ignoring_case(split_field(header[index]).name, name)) continue;
    used[index] = true;
    return index;
  }
  return std::nullopt;
}

}  // namespace

bool needs_own_hash(std::string_view signature_field) {
  const std::string_view value = split_field(signature_field).value;
  const auto signature = place_of_signature(value);
  if (!signature) return false;
  const auto equals = static_cast<std::size_t>(signature->data() - value.data()) - 1;
  return equals == 0 || value[equals - 1] != 'b';
}

HeaderHash header_hash(std::span<const std::string_view> header, std::size_t signature_field) {
  const std::string_view field = header[signature_field];
  const TagList tags(split_field(field).value);
  const std::string canonicalization = ascii::lower_case(tags.find("c").value_or("simple"));
  const bool is_relaxed = canonicalization == "relaxed" || canonicalization.starts_with("relaxed/");
  const auto canonical = [is_relaxed](std::string_view text) { return is_relaxed ? relaxed(text) : std::string(text); };

  std::string text;
  std::vector<bool> used(header.size());
  std::string_view names = tags.find("h").value_or("");
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(':'), names.size());
    const auto index = take_last(header, without_folding_space(names.substr(0, end)), used);
    if (index) text.append(canonical(header[*index])).append(kLineEnd);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  std::string own(field);
  if (const auto signature = place_of_signature(split_field(field).value)) {
    own.erase(static_cast<std::size_t>(signature->data() - field.data()), signature->size());
  }
  text += canonical(own);

  HeaderHash hash;
  static_assert(sizeof hash == crypto_hash_sha256_BYTES);
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return hash;
}

}  // namespace bloomgate
