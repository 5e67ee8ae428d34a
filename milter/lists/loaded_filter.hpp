// A whitelist that has passed all checks and is ready for look-ups, and its description for the log. The supervisor
// makes it at the start and at each reload. From then on all sessions share it, and nothing changes except the damage
// that is found.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/file/mapped_filter.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

enum class FilterCheck {
  all,     // every byte
  header,  // the header, which takes no time: for --explain
};

// What has happened to the file of a whitelist that is in use.
enum class Damage : std::uint8_t {
  none,
  unreadable,  // a part of it is gone, or the disk cannot read it
  written_to,  // somebody has written to it in place
  spoiled,     // its bytes are no longer what they were when it was loaded
};

// "was changed in place while it was in use": the text after the file's name in a log line. Empty for none.
std::string_view damage_text(Damage damage) noexcept;

class LoadedFilter final : public Whitelist {
 public:
  // Opens the file, checks every byte of it, which also brings it into memory, and keeps it there if `lock` is set.
  // Throws BloomgateError, with changed_while_open if somebody writes to the file meanwhile. Cost: the time to read it
  // once.
  LoadedFilter(const std::string& path, bool lock, FilterCheck check = FilterCheck::all);

  const FilterView& view() const noexcept override { return file_.view(); }

  // Asks the system at each call whether somebody has written to the file. So a call after a look-up covers that
  // look-up, within the limits of MappedFilter::state(). Cost: some 0.2 µs.
  bool damaged() const noexcept override { return damage() != Damage::none; }

  // The first damage that was found; it stays so from then on. Safe from any thread.
  Damage damage() const noexcept;
  void note_damage(Damage damage) const noexcept;

  // True only at the first call, for the thread that meets the damage first. Safe from any thread.
  bool first_to_report_damage() const noexcept { return !damage_reported_.test_and_set(); }

  const MappedFilter& file() const noexcept { return file_; }
  const std::string& path() const noexcept { return file_.path(); }
  const FilterHeader& header() const noexcept { return file_.header(); }
  std::chrono::system_clock::time_point loaded_at() const noexcept { return loaded_at_; }

  // Whether the path still leads to the file that is mapped.
  bool is_in_place() const noexcept;

  // Of one look-up, expected from the fill. Cost: up to a millisecond.
  double false_positive_rate() const noexcept;

  // "/var/lib/bloomgate/whitelist.bloom: 10 entries, 32768 bits, expected false-positive rate 2.16 % per look-up": on
  // one line, safe to log.
  std::string description() const;

 private:
  MappedFilter file_;
  std::chrono::system_clock::time_point loaded_at_;
  mutable std::atomic<Damage> damage_{Damage::none};
  mutable std::atomic_flag damage_reported_;
};

}  // namespace bloomgate
