#include "milter/names/txt_record.hpp"

#include <array>

namespace bloomgate {

std::string_view txt_status_name(TxtStatus status) noexcept {
  constexpr std::array<std::string_view, kTxtStatuses> kNames = {
      "found", "not-found", "several", "too-long", "malformed", "server-failed", "bogus", "timed-out", "not-asked"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? kNames[index] : "";
}

}  // namespace bloomgate
