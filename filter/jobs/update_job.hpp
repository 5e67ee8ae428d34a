// What an update of a store is asked for, and what that comes to. update_store() carries it out, as the ranks of an MPI
// job do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/engine/store_merge.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/jobs/job_observer.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

struct UpdateRequest : FilterRequest {
  std::string store;
  std::string new_store = {};  // empty: in the place of the old one
  std::vector<std::string> add = {};
  std::vector<std::string> remove = {};
  // Nothing: as the old filter has it. With a layout that is asked for goes its size of a block.
  std::optional<Layout> layout = {};
  std::optional<std::uint32_t> block_bytes = {};
  std::optional<double> bits_per_entry = {};
  std::optional<std::uint32_t> hashes = {};

  bool is_in_place() const noexcept { return new_store.empty(); }
  const std::string& store_path() const noexcept { return is_in_place() ? store : new_store; }
};

// The files of all folders are named.
struct UpdatePlan : UpdateRequest {
  // Throws what list_files() throws.
  explicit UpdatePlan(UpdateRequest request);

  // Completes the options by the old filter, if it is there. Throws what MappedFilter throws.
  void choose_shape();

  // The new pair has the domains of its senders if the store has them and they are wanted. Gives a warning where the
  // store does not have them and they are wanted; else nothing.
  std::string choose_sender_domains(const StoreFile& old);
};

struct UpdateResult : FilterResult {
  UpdateCounts counts = {};
};

// With how many bits per entry a filter was built: its header has only what came of it. The roundest number in [1, 64]
// that gives so many blocks to a filter that was sized for so many entries. So it does not grow where one filter after
// the other is made like the one before.
double bits_per_entry_of(const FilterHeader& header) noexcept;

// Before anything is read. Throws UsageError where the output would overwrite one of the inputs.
void refuse_to_overwrite_inputs(const UpdatePlan& plan);

// The store that is to be changed. In its place that is only done together with its filter: another filter would lose
// its store. Throws UsageError, BloomgateError{bad_argument} where the filter has known strangers and no list of them
// is given, and what opening the two throws.
std::unique_ptr<StoreFile> open_old_store(const UpdatePlan& plan);

// What was read of the additions, and how many lines of the removals were rejected. Throws BloomgateError{bad_input}
// where that must not be.
void require_lines(const UpdatePlan& plan, const LinesRead& added, std::uint64_t rejected_of_remove);

// Throws what LossLimits refuses: `old` is the store, `counts` what is to change.
void require_entries_left(const UpdatePlan& plan, const StoreHeader& old, const UpdateCounts& counts);

// Puts the pair in place, or changes nothing: where the output would overwrite an input (UsageError), where a list was
// rejected or too much is gone (BloomgateError{bad_input, no_entries}), where `stop` turned true ({interrupted}), and
// where reading or writing fails. Throws what UpdatePlan throws.
UpdateResult update_store(UpdateRequest request, JobObserver& observer, const std::atomic<bool>& stop);

}  // namespace bloomgate
