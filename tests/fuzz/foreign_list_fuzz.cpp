// Reads hostile text as a list of another program. Each result must be a valid entry of one line, with the number of a
// line of the text. Each omitted item must have a reason.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/base/error.hpp"
#include "filter/foreign/foreign_list.hpp"
#include "tests/fuzz/require.hpp"

using namespace bloomgate;
using bloomgate::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  ForeignList list;
  try {
    read_foreign(static_cast<ForeignKind>(data[0] % kForeignKinds), text, list);
  } catch (const BloomgateError& error) {
    require(error.code() == ErrorCode::bad_input, "only a text that was cut off is refused", text);
  }
  list.settle();
  static_cast<void>(recognise(text));
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  for (const Taken& taken : list.taken()) {
    require(taken.line >= 1 && taken.line <= lines + 1, "an entry is on a line of the text", taken.entry);
    require(taken.entry.find_first_of("\r\n") == std::string::npos, "an entry has one line", taken.entry);
    const EntryKind kind = canonicalize_list_line(taken.entry).kind();
    require(kind != EntryKind::rejected && kind != EntryKind::blank && kind != EntryKind::null_sender,
            "each result is a valid entry", taken.entry);
  }
  for (const Omitted& left : list.left_out()) {
    require(left.line >= 1 && left.line <= lines + 1, "an omitted item is on a line of the text", left.item);
    require(!left.reason.empty(), "an omitted item has a reason", left.item);
  }
  return 0;
}
