// Something that needs an operator's action. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bloomgate {

enum class Severity : std::uint8_t {
  notice,  // it may be meant
  ticket,  // it can wait for a working day
  page,    // mail is not decided as it should be: look now
};

// "notice", "ticket", "page": the values of the label `severity`. Never fails.
std::string_view severity_name(Severity severity) noexcept;

struct HealthFinding {
  std::string_view rule;  // its name in the table (rules.hpp)
  Severity severity = Severity::notice;
  std::string what;    // a sentence without its full stop; may hold bytes of files and messages
  std::string how;     // what to do
  std::string whom{};  // domains that send mail, behind `what`: only for those who may know them
};

}  // namespace bloomgate
