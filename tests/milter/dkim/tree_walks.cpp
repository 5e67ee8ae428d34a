// Which of two domains may sign for the other, by records that are given, for tree_walks_test.py. Each line of the
// input is a sender's domain, a signer's, and records, `name=text`, with tabs between them. A line of the output has
// the organisational domains of both by the Public Suffix List, both by the walk, and whether the signer counts; a dash
// stands for a domain that is not there.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "milter/dkim/tree_walk.hpp"
#include "milter/fields/alignment.hpp"

namespace {

using namespace bloomgate;

std::string_view next(std::string_view& line) {
  const std::string_view part = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(part.size() + 1, line.size()));
  return part;
}

std::string_view shown(std::string_view domain) {
  return domain.empty() ? "-" : domain;
}

void print(std::string_view line) {
  const std::string_view sender = next(line), signer = next(line);
  std::map<std::string_view, std::string_view> records;
  while (!line.empty()) {
    const std::string_view record = next(line);
    records[record.substr(0, record.find('='))] = record.substr(record.find('=') + 1);
  }
  const auto ask = [&records](std::string_view name) -> WalkAnswer {
    const auto record = records.find(name);
    return record != records.end() ? WalkAnswer{.record = read_dmarc_record(record->second)} : WalkAnswer{};
  };
  const bool counts = signer == sender || (aligned(signer, sender, Alignment::relaxed) &&
                                           may_sign(signer, sender, ask) == SignatureOutcome::pass);
  std::cout << shown(organizational_domain(sender)) << '\t' << shown(organizational_domain(signer)) << '\t'
            << shown(walk_tree(sender, ask).organization) << '\t' << shown(walk_tree(signer, ask).organization) << '\t'
            << counts << '\n';
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) print(line);
  return std::cout.flush() ? 0 : 1;
}
