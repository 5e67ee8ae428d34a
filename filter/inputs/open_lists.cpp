#include "filter/inputs/open_lists.hpp"

namespace bloomgate {

OpenLists::OpenLists(const std::vector<std::string>& files, const std::string& format_name,
                     const std::atomic<bool>& stop, BlockOrder order)
    : format(make_format(format_name, files.size())), blocks(files, stop, format->quotes_line_ends(), order) {}

WorkState OpenLists::state() const {
  return {.doing = "reading", .done_bytes = blocks.done_bytes(), .total_bytes = blocks.total_bytes()};
}

void require_sent(const Blocks& blocks, const std::string& outcome) {
  for (std::size_t input = 0; input < blocks.input_count(); ++input) {
    if (!blocks.sent_nothing(input)) continue;
    throw BloomgateError(
        ErrorCode::bad_input,
        blocks.name(input) + " was empty, so " + outcome + "; if that is meant, send one comment line: #",
        {.path = blocks.name(input)});
  }
}

WorkState state_of(const OpenLists& lists, const StoreInputs& stores) {
  WorkState state = lists.state();
  state.done_bytes += stores.done_bytes();
  if (state.total_bytes != 0 || lists.blocks.input_count() == 0) state.total_bytes += stores.total_bytes();
  return state;
}

WorkState state_of(const WriteProgress& written) {
  const std::uint64_t done_bytes = written.done_bytes;
  const std::uint64_t total_bytes = written.total_bytes;
  if (total_bytes != 0 && done_bytes == total_bytes) return {.doing = "checking"};
  return {.doing = "writing", .done_bytes = done_bytes, .total_bytes = total_bytes};
}

}  // namespace bloomgate
