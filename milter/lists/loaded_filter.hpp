// A whitelist that has passed all checks, ready for look-ups, and what is to be said about it. Made by the supervisor
// at the start and at each reload; from then on immutable and shared by all sessions.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "filter/file/mapped_filter.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

enum class FilterCheck {
  all,     // every byte
  header,  // what takes no time: for --explain
};

class LoadedFilter final : public Whitelist {
 public:
  // Opens the file, checks every byte of it, which also brings it into memory, and keeps it there if `lock` is set.
  // Throws BloomgateError. Cost: the time to read the file once.
  LoadedFilter(const std::string& path, bool lock, FilterCheck check = FilterCheck::all);

  const FilterView& view() const noexcept override { return file_.view(); }
  bool damaged() const noexcept override { return file_.damaged(); }

  // True at the first call only, for whoever meets the damage first. Safe from any thread.
  bool first_to_report_damage() const noexcept { return !damage_reported_.test_and_set(); }

  const std::string& path() const noexcept { return file_.path(); }
  const FilterHeader& header() const noexcept { return file_.header(); }
  std::chrono::system_clock::time_point loaded_at() const noexcept { return loaded_at_; }

  // "/var/lib/bloomgate/whitelist.bloom: 10 entries, 32768 bits, expected false-positive rate 2.16 %": on one line, fit
  // to be logged.
  std::string description() const;

 private:
  MappedFilter file_;
  std::chrono::system_clock::time_point loaded_at_;
  mutable std::atomic_flag damage_reported_;
};

}  // namespace bloomgate
