// What the lines of a list become, in words, for tables of cases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {

// "list: KEY", "lists below: KEY", "signer: KEY", …, "rejected: REASON".
inline std::string described(const Entry& entry) {
  switch (entry.kind()) {
    case EntryKind::mailing_list:
      return "list: " + std::string(entry.key());
    case EntryKind::mailing_list_tree:
      return "lists below: " + std::string(entry.key());
    case EntryKind::with_signer:
      return "signer: " + std::string(entry.key());
    case EntryKind::address:
      return "address: " + std::string(entry.key());
    case EntryKind::pair:
      return "pair: " + entry_text(entry.key());
    case EntryKind::domain_pair:
      return "domain pair: " + entry_text(entry.key());
    case EntryKind::blank:
      return "blank";
    case EntryKind::rejected:
      return "rejected: " + std::string(reject_reason_name(entry.reason()));
    default:
      return "other: " + std::string(entry.key());
  }
}

struct EntryCase {
  std::string name;
  std::string line;
  std::string want;
};

inline void check(const EntryCase& each) {
  CAPTURE(each.name, each.line);
  CHECK(described(canonicalize_list_line(each.line, {})) == each.want);
}

// The forms in which a side of a pair, or a mailing list, may be listed.
inline std::vector<std::string> forms_of(std::string_view key) {
  std::vector<std::string> forms;
  for (const EntryForms::Form& form : EntryForms(key)) forms.push_back(std::string(form.prefix).append(form.rest));
  return forms;
}

}  // namespace bloomgate::test
