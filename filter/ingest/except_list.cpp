#include "filter/ingest/except_list.hpp"

#include "filter/address/domain_tree.hpp"
#include "filter/base/error.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

ExceptList::ExceptList(const std::vector<std::string>& files, AddressProfile profile, const std::atomic<bool>& stop) {
  for (const std::string& file : files) {
    Blocks blocks({file}, stop, false, BlockOrder::in_turn);
    const std::unique_ptr<Format> format = make_format("text", 1);
    std::uint64_t lines = 0;
    for (Block block; blocks.next(block);) {
      const std::uint64_t before = lines;
      lines +=
          for_each_line(block, *format, profile, [&](const ListLine& line, std::uint64_t number, std::string_view) {
            if (line.entry.kind() == EntryKind::rejected) {
              throw BloomgateError(ErrorCode::bad_input,
                                   blocks.name(0) + ':' + std::to_string(before + number) + ": " + line.fault.text +
                                       "; correct the line, or its senders stay listed",
                                   {.path = file});
            }
            if (!line.entry.is_key()) return;
            keys_.emplace(line.entry.key());
            has_domains_ = has_domains_ || !goes_into_bits(line.entry.kind());
            has_senders_ = has_senders_ || !line.entry.is_pair();
            has_domain_pairs_ = has_domain_pairs_ || line.entry.kind() == EntryKind::domain_pair;
          });
    }
  }
}

bool ExceptList::has_pair(std::string_view key) const noexcept {
  const PairSides sides = sides_of_pair(key);
  if (has_senders_ && has(sides.sender)) return true;
  if (!has_domain_pairs_) return false;
  const PairKey wider =
      find_wider_pair(sides.sender, sides.recipient, [this](std::string_view each) { return is_key(each); });
  return !wider.view().empty();
}

bool ExceptList::has(std::string_view key) const noexcept {
  if (is_key(key)) return true;
  if (is_pair_key(key)) return has_pair(key);
  if (!has_domains_ && !is_signer_key(key)) return false;
  if (is_signer_key(key)) {
    const SignerSides sides = sides_of_signer_key(key);
    const auto is_excepted = [this](std::string_view each) { return is_key(each); };
    return has(sides.entry) || !find_with_signer(sides.entry, sides.signer, is_excepted).view().empty();
  }
  if (is_mailing_list_key(key)) {
    return find_mailing_list(key, [this](std::string_view each) { return is_key(each); }).is_listed();
  }
  // A domain has no '@', so the last one is before it; a tree's domain has a dot before it.
  const std::size_t at = key.rfind('@');
  const std::string_view domain = key.substr(at + 1);
  const bool is_tree = at == 0 && domain.starts_with('.');
  if (!is_tree && is_key(key.substr(at))) return true;
  return !find_domain_tree(domain.substr(is_tree ? 1 : 0), [this](std::string_view tree) {
            return is_key(tree);
          }).empty();
}

}  // namespace bloomgate
