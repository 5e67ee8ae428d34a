#include "filter/address/wildcard.hpp"

namespace bloomgate {
namespace {

// Takes one of the two signs with `after` behind it off the front of `text`. Whether it is there.
bool take_sign(std::string_view& text, char after) noexcept {
  const bool is_there = text.size() > 1 && is_wildcard(text.substr(0, 1)) && text[1] == after;
  if (is_there) text.remove_prefix(2);
  return is_there;
}

}  // namespace

Wildcard read_wildcard(std::string_view word) noexcept {
  if (word.starts_with('<') && word.ends_with('>')) word = word.substr(1, word.size() - 2);
  const bool has_local_part = take_sign(word, '@');
  if (!has_local_part && word.starts_with('@')) word.remove_prefix(1);
  const bool has_label = take_sign(word, '.');
  if (!has_local_part && !has_label) return {};
  const bool is_tree = has_label || word.starts_with('.');
  if (is_tree && !has_label) word.remove_prefix(1);
  Wildcard found;
  const RejectReason reason =
      is_tree ? canonicalize_host_name(word, found.domain) : canonicalize_domain(word, found.domain);
  if (reason == RejectReason::none) found.prefix = is_tree ? "@." : "@";
  return found;
}

}  // namespace bloomgate
