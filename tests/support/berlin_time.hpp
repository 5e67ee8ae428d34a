// This machine's own time is that of Berlin as long as the value lives, by a rule that needs no database.
#pragma once

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

namespace bloomgate::test {

class Berlin {
 public:
  Berlin() { set("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~Berlin() { set(before_ == nullptr ? nullptr : kept_.c_str()); }
  Berlin(const Berlin&) = delete;
  Berlin& operator=(const Berlin&) = delete;

 private:
  static void set(const char* zone) {
    if (zone == nullptr) {
      unsetenv("TZ");
    } else {
      setenv("TZ", zone, 1);
    }
    tzset();
  }
  const char* before_ = std::getenv("TZ");
  std::string kept_ = before_ == nullptr ? "" : before_;
};

inline std::chrono::sys_seconds utc(int year, unsigned month, unsigned day, std::chrono::seconds clock) {
  return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)) + clock;
}

}  // namespace bloomgate::test
