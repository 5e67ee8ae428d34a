// Reads arbitrary bytes as an exact list and holds it against a plain set of the same keys: whatever is in the list is
// found, and what is not in it is not.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "milter/policy/exact_list.hpp"

namespace bloomgate {
namespace {

constexpr AddressProfile kKeepCase{.keep_local_part_case = true};

void require(bool holds, const char* what, std::string_view line) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\nline: " << line << '\n';
  std::abort();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t line_end = text.find('\n');
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

// Lines that are in the list, and lines that are nearly in it.
void check_line(const ExactList& list, const std::set<std::string, std::less<>>& keys, std::string_view line) {
  const Entry entry = canonicalize_line(line);
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
    const Entry entry = canonicalize_line(line);
    if (entry.is_key()) keys.emplace(entry.key());
    if (entry.kind() == EntryKind::rejected) ++bad;
  }
  require(reading.list.size() == keys.size(), "every entry is in the list once", {});
  require(reading.bad_line_count == bad, "every bad line is counted", {});
  for (const std::string_view line : lines) check_line(reading.list, keys, line);
  return 0;
}
