#include "filter/address/reject_reason.hpp"

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

// Each `.It Cm` of a section of a manual page, with the text below it in one line.
std::map<std::string, std::string> items_of(const std::string& page, const std::string& section) {
  std::map<std::string, std::string> items;
  std::istringstream lines(page.substr(page.find(".Sh " + section)));
  const std::string item = ".It Cm ";
  std::string name;
  std::string line;
  while (std::getline(lines, line) && line != ".El") {
    if (line.starts_with(item)) {
      name = line.substr(item.size());
    } else if (!name.empty()) {
      std::string& text = items[name];
      text += (text.empty() ? "" : " ") + line;
    }
  }
  return items;
}

TEST_CASE("Every reason has its own name and its own text") {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < kRejectReasonCount; ++i) {
    const auto reason = static_cast<RejectReason>(i);
    CAPTURE(i, reject_reason_name(reason));
    CHECK(names.insert(reject_reason_name(reason)).second);
    CHECK(texts.insert(reject_reason_text(reason)).second);
    CHECK(reject_reason_name(reason).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string_view::npos);
    CHECK_FALSE(reject_reason_name(reason).empty());
    CHECK_FALSE(reject_reason_text(reason).empty());
  }
  CHECK(reject_reason_name(RejectReason::address_too_long) == "address-too-long");
  CHECK(reject_reason_text(RejectReason::address_too_long) == "the whole address is longer than 254 octets");
}

TEST_CASE("A reason that this version does not know has a name and a text too") {
  const auto unknown = static_cast<RejectReason>(255);
  CHECK(reject_reason_name(unknown) == "unknown");
  CHECK_FALSE(reject_reason_text(unknown).empty());
}

TEST_CASE("The manual page has every reason with its text, and no other") {
  const std::string page = test::read_file(test::source_folder() + "/filter/cli/bloomgate.1");
  std::map<std::string, std::string> want;
  for (std::size_t i = 1; i < kRejectReasonCount; ++i) {
    const auto reason = static_cast<RejectReason>(i);
    want[std::string(reject_reason_name(reason))] = std::string(reject_reason_text(reason)) + ".";
  }
  CHECK(items_of(page, "REJECTED ENTRIES") == want);
}

}  // namespace
}  // namespace bloomgate
