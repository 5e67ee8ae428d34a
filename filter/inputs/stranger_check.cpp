#include "filter/inputs/stranger_check.hpp"

#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"

namespace bloomgate {

StrangerCheck::StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict,
                             const JobNames& names, std::function<void(std::string_view)> show,
                             const std::atomic<bool>& stop, HashRange range)
    : lists_(files, names.strangers, options.profile, options.threads, stop),
      is_strict_(is_strict),
      names_(names),
      show_(std::move(show)) {
  if (lists_.empty()) return;
  options.memory_bytes /= 2;
  strangers_ = std::make_unique<KnownStrangers>(shape_of(options), options.threads, options.memory_bytes, range);
  lists_.read_into(*strangers_);
}

void StrangerCheck::look_at_entries() {
  review_ = lists_.review(*strangers_, show_);
  if (!is_strict_ || review_.listed + review_.rejected == 0) return;
  throw BloomgateError(ErrorCode::bad_input, "of what the lists of " + names_.strangers + " name, " +
                                                 format_count(review_.listed) + " are entries and " +
                                                 format_count(review_.rejected) + " are no addresses, and " +
                                                 names_.strict + " was given; nothing was changed");
}

}  // namespace bloomgate
