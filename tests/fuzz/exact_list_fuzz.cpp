// Reads arbitrary bytes as an exact list and holds it against a plain set of the same keys: whatever is in the list is
// found, and what is not in it is not. Of a pair, each form of either side is tried by hand.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/pair.hpp"
#include "milter/policy/exact_list.hpp"
#include "tests/fuzz/require.hpp"

namespace bloomgate {
namespace {

using test::require;

constexpr AddressProfile kKeepCase{.keep_local_part_case = true};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    // A carriage return alone ends a line, too. Between one and a line feed is a blank line, which changes nothing.
    const std::size_t line_end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, line_end));
    text = line_end == std::string_view::npos ? std::string_view() : text.substr(line_end + 1);
  }
  return lines;
}

Match expected(const std::set<std::string, std::less<>>& keys, const Entry& entry) {
  if (entry.kind() == EntryKind::domain) return keys.contains(entry.key()) ? Match::domain : Match::none;
  if (entry.kind() == EntryKind::domain_tree) return keys.contains(entry.key()) ? Match::domain_tree : Match::none;
  if (entry.kind() != EntryKind::address) return Match::none;
  if (keys.contains(entry.key())) return Match::address;
  if (keys.contains("@" + std::string(entry.domain()))) return Match::domain;
  for (std::string_view domain = entry.domain(); !domain.empty();) {
    if (keys.contains("@." + std::string(domain))) return Match::domain_tree;
    const std::size_t dot = domain.starts_with('[') ? std::string_view::npos : domain.find('.');
    domain = dot == std::string_view::npos ? std::string_view() : domain.substr(dot + 1);
  }
  return Match::none;
}

// An address, `@domain` of it, and `@.domain` of it and of those above.
std::vector<std::string> forms_of(const Entry& address) {
  std::vector<std::string> forms = {std::string(address.key()), "@" + std::string(address.domain())};
  for (std::string_view domain = address.domain(); !domain.empty();) {
    forms.push_back("@." + std::string(domain));
    const std::size_t dot = domain.starts_with('[') ? std::string_view::npos : domain.find('.');
    domain = dot == std::string_view::npos ? std::string_view() : domain.substr(dot + 1);
  }
  return forms;
}

// Whether a pair lists the sender for the recipient, and whether one has the sender at all.
struct Expected {
  bool is_listed = false;
  bool has_sender = false;
};

Expected expected_of_pair(const std::set<std::string, std::less<>>& keys, const Entry& sender, const Entry& recipient) {
  Expected expected;
  for (const std::string& from : forms_of(sender)) {
    const std::string start = from + kPairSeparator;
    const auto first = keys.lower_bound(start);
    expected.has_sender = expected.has_sender || (first != keys.end() && first->starts_with(start));
    for (const std::string& to : forms_of(recipient)) {
      expected.is_listed = expected.is_listed || keys.contains(start + to);
    }
  }
  return expected;
}

void check_pair(const ExactList& list, const std::set<std::string, std::less<>>& keys, const Entry& sender,
                const Entry& recipient, std::string_view line) {
  if (sender.kind() != EntryKind::address || recipient.kind() != EntryKind::address) return;
  const Expected expected = expected_of_pair(keys, sender, recipient);
  require(list.find_pair(sender, recipient, {}, {}).is_listed() == expected.is_listed, "a pair is found by its forms",
          line);
  require(list.has_pairs_of(sender, {}) == expected.has_sender, "a pair's sender is found by its forms", line);
}

// Senders and recipients that the pair of a line has, and those that it nearly has.
void check_pair_line(const ExactList& list, const std::set<std::string, std::less<>>& keys, const Entry& pair,
                     std::string_view line) {
  const PairSides sides = sides_of_pair(pair.key());
  const auto one_of = [](std::string_view side, std::string_view before) {
    const std::size_t dot = side.starts_with("@.") ? 2 : 1;
    const bool is_address = side.front() != '@';
    return canonicalize_path(is_address ? std::string(side)
                                        : std::string(before) + std::string(side.substr(std::min(dot, side.size()))));
  };
  const Entry senders[] = {one_of(sides.sender, "joe@"), one_of(sides.sender, "joe@x."), one_of(sides.recipient, "a@")};
  const Entry recipients[] = {one_of(sides.recipient, "ann@"), one_of(sides.recipient, "ann@x."),
                              one_of(sides.sender, "a@")};
  if (senders[0].kind() == EntryKind::address && recipients[0].kind() == EntryKind::address) {
    require(list.find_pair(senders[0], recipients[0], {}, {}).is_listed(), "a pair of the list is found", line);
  }
  for (const Entry& sender : senders) {
    for (const Entry& recipient : recipients) check_pair(list, keys, sender, recipient, line);
  }
}

// Lines that are in the list, and lines that are nearly in it.
void check_line(const ExactList& list, const std::set<std::string, std::less<>>& keys, std::string_view line) {
  const Entry entry = canonicalize_list_line(line);
  if (entry.is_pair()) {
    require(list.has(entry) && list.holds_pairs(), "a pair is in the list", line);
    check_pair_line(list, keys, entry, line);
    return;
  }
  if (entry.is_key()) require(list.find(entry).is_listed(), "an entry of the list is found", line);
  const Entry kept = canonicalize_line(line, kKeepCase);
  // Folding makes some texts longer: what is too long then is no entry.
  if (kept.is_key() && entry.is_key()) require(list.find(kept).is_listed(), "in every case", line);
  for (const std::string& other : {"x" + std::string(line), std::string(line.substr(line.size() / 2)),
                                   "joe@x." + std::string(entry.domain()), "joe@" + std::string(entry.domain())}) {
    const Entry near = canonicalize_line(other);
    require(list.find(near).match == expected(keys, near), "nothing else is found", other);
  }
}

}  // namespace
}  // namespace bloomgate

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ExactListReading reading = read_exact_list(text);
  const std::vector<std::string_view> lines = lines_of(text);
  std::set<std::string, std::less<>> keys;
  std::uint64_t bad = 0;
  for (const std::string_view line : lines) {
    const Entry entry = canonicalize_list_line(line);
    if (entry.is_key()) keys.emplace(entry.key());
    if (entry.kind() == EntryKind::rejected) ++bad;
  }
  require(reading.list.size() == keys.size(), "every entry is in the list once", {});
  require(reading.bad_line_count == bad, "every bad line is counted", {});
  for (const std::string_view line : lines) check_line(reading.list, keys, line);
  return 0;
}
