// What the doctor has found, in short.
#pragma once

#include <string>
#include <vector>

#include "milter/doctor/doctor.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {

// "problem socket: nothing listens on unix:/s"
inline std::vector<std::string> shown(const std::vector<DoctorFinding>& findings) {
  using Level = DoctorFinding::Level;
  std::vector<std::string> lines;
  for (const DoctorFinding& each : findings) {
    const std::string level = each.level == Level::ok ? "ok" : each.level == Level::warning ? "warning" : "problem";
    lines.push_back(level + ' ' + each.subject + ": " + each.text);
  }
  return lines;
}

// Whether these lines are wanted, in their order. A wanted line that ends with * is the beginning of one.
inline void check_lines(std::vector<std::string> lines, const std::vector<std::string>& wanted) {
  for (std::size_t i = 0; i < lines.size() && i < wanted.size(); ++i) {
    const std::string& want = wanted[i];
    if (want.ends_with('*') && lines[i].starts_with(want.substr(0, want.size() - 1))) lines[i] = want;
  }
  CHECK(lines == wanted);
}

inline void check_found(const std::vector<DoctorFinding>& findings, const std::vector<std::string>& wanted) {
  check_lines(shown(findings), wanted);
}

}  // namespace bloomgate::test
