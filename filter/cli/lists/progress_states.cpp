#include "filter/cli/lists/progress_states.hpp"

namespace bloomgate::cli {

Progress::State state_of(const OpenLists& lists, const StoreInputs& stores) {
  Progress::State state = lists.state();
  state.done_bytes += stores.done_bytes();
  if (state.total_bytes != 0 || lists.blocks.input_count() == 0) state.total_bytes += stores.total_bytes();
  return state;
}

Progress::State state_of(const WriteProgress& written) {
  const std::uint64_t done_bytes = written.done_bytes;
  const std::uint64_t total_bytes = written.total_bytes;
  if (total_bytes != 0 && done_bytes == total_bytes) return {.doing = "checking"};
  return {.doing = "writing", .done_bytes = done_bytes, .total_bytes = total_bytes};
}

}  // namespace bloomgate::cli
