#include "filter/mpi/list_reading.hpp"

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate::mpi {

OpenLists& ListReading::open(const std::vector<std::string>& files, const std::string& format, RejectLog& rejects) {
  OpenLists& lists = opened_.emplace_back(files, format, stop_);
  rejects.count_from([&lists](std::size_t input) { return lists.blocks.lines_before_share(input); });
  read_now_ = &lists;
  return lists;
}

std::string ListReading::seen(const OpenLists& lists) const {
  std::string seen;
  for (std::size_t input = 0; !local_lists_ && input < lists.blocks.input_count(); ++input) {
    seen += lists.blocks.name(input) + '\n' + std::to_string(lists.blocks.file_bytes(input)) + '\n';
  }
  return seen;
}

void ListReading::require_same(const std::string& seen, const std::string& for_all) const {
  const KeyHash hash = hash_key(seen + (local_lists_ ? "local lists\n" : ""), 0, HashFamily::xxh3);
  if (hash == communicator_.of_first(hash)) return;
  throw BloomgateError(
      ErrorCode::bad_input,
      local_lists_ ? "this rank was given other lists of " + for_all + " than rank 0, or rank 0 was not given " +
                         choice_names().local_lists + "; all ranks must leave out the same"
                   : "this rank sees other lists than rank 0, or lists of other sizes; all ranks must see the "
                     "same files at the same paths, or be given " +
                         choice_names().local_lists);
}

void ListReading::take_share(OpenLists& lists) {
  if (!local_lists_) lists.blocks.take_share(communicator_.rank(), communicator_.ranks());
  read_bytes_.own = [&lists] { return lists.blocks.done_bytes(); };
  read_bytes_.others = 0;
  bytes_of_all_ = communicator_.sum(lists.blocks.total_bytes());
  read_now_ = &lists;
}

WorkState ListReading::look() const {
  const OpenLists* const lists = read_now_;
  if (lists == nullptr) return {.doing = "writing"};
  WorkState state = lists->state();
  if (counting_) {
    state.doing = "counting";
    return state;
  }
  state.done_bytes += read_bytes_.others;
  state.total_bytes = state.done_bytes <= bytes_of_all_ ? bytes_of_all_.load() : 0;
  return state;
}

std::string ListReading::named(std::string_view line) const {
  if (!local_lists_) return std::string(line);
  return "rank " + std::to_string(communicator_.rank()) + ": " + std::string(line);
}

}  // namespace bloomgate::mpi
