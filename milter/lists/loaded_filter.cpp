#include "milter/lists/loaded_filter.hpp"

#include <spdlog/fmt/fmt.h>

#include "filter/base/printable.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {

LoadedFilter::LoadedFilter(const std::string& path, bool lock, FilterCheck check) : file_(path) {
  if (check == FilterCheck::all) file_.verify_body();
  if (lock) file_.lock_in_memory();
  loaded_at_ = std::chrono::system_clock::now();
}

std::string LoadedFilter::description() const {
  const FilterHeader& header = file_.header();
  return fmt::format("{}: {} entries, {} bits, expected false-positive rate {:.3g} %", printable(path()),
                     header.entries, view().body().size() * 8, 100 * fpr_from_fill(header.bits_set, header.shape));
}

}  // namespace bloomgate
