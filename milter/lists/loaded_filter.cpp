#include "milter/lists/loaded_filter.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include "filter/base/printable.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {

std::string_view damage_text(Damage damage) noexcept {
  switch (damage) {
    case Damage::none:
      break;
    case Damage::unreadable:
      return "can no longer be read in full";
    case Damage::written_to:
      return "was changed in place while it was in use";
    case Damage::spoiled:
      return "is not what it was when it was loaded";
  }
  return {};
}

LoadedFilter::LoadedFilter(const std::string& path, bool lock, FilterCheck check) : file_(path) {
  if (check == FilterCheck::all) file_.verify_body();
  if (lock) file_.lock_in_memory();
  loaded_at_ = std::chrono::system_clock::now();
}

Damage LoadedFilter::damage() const noexcept {
  if (const Damage known = damage_.load(std::memory_order_acquire); known != Damage::none) return known;
  switch (file_.state()) {
    case MappedFilter::State::whole:
      return Damage::none;
    case MappedFilter::State::unreadable:
      note_damage(Damage::unreadable);
      break;
    case MappedFilter::State::written_to:
      note_damage(Damage::written_to);
      break;
  }
  return damage_.load(std::memory_order_acquire);
}

void LoadedFilter::note_damage(Damage damage) const noexcept {
  Damage none = Damage::none;
  damage_.compare_exchange_strong(none, damage);
}

bool LoadedFilter::is_in_place() const noexcept {
  struct stat status = {};
  return stat(path().c_str(), &status) == 0 && FileStamp(status).is_same_file(file_.stamp());
}

double LoadedFilter::false_positive_rate() const noexcept {
  return expected_fpr_of(header());
}

std::string LoadedFilter::description() const {
  const FilterHeader& header = file_.header();
  return fmt::format("{}: {} entries, {} bits, expected false-positive rate {:.3g} % per look-up", printable(path()),
                     entries_of(header), view().body().size() * 8, 100 * false_positive_rate());
}

}  // namespace bloomgate
