// The request of an update of a store, and the plan that follows from it. update_store() carries it out, and so do the
// ranks of an MPI job.
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
  std::string new_store = {};  // empty: the new one replaces the old one
  std::vector<std::string> add = {};
  std::vector<std::string> remove = {};
  // Nothing: as in the old filter. If a layout is requested, the old filter's block size does not apply.
  std::optional<Layout> layout = {};
  std::optional<std::uint32_t> block_bytes = {};
  std::optional<double> bits_per_entry = {};
  std::optional<std::uint32_t> hashes = {};

  bool is_in_place() const noexcept { return new_store.empty(); }
  const std::string& store_path() const noexcept { return is_in_place() ? store : new_store; }
};

// The request, with all folders replaced by their files.
struct UpdatePlan : UpdateRequest {
  // Throws what list_files() throws.
  explicit UpdatePlan(UpdateRequest request);

  // Completes the options from the old filter, if it exists. Throws what MappedFilter throws.
  void choose_shape();

  // The new pair has the domains of its senders if they are requested and the store has them. Returns a warning if they
  // are requested and the store does not have them; otherwise empty.
  std::string choose_sender_domains(const StoreFile& old);
};

struct UpdateResult : FilterResult {
  UpdateCounts counts = {};
};

// The bits per entry with which a filter was built; its header has only the resulting size. The result is the roundest
// number in [1, 64] that gives the filter's number of blocks for the number of entries that it was sized for. So
// filters do not grow if each is made like the one before.
double bits_per_entry_of(const FilterHeader& header) noexcept;

// Call it before anything is read. Throws UsageError if the output would overwrite one of the inputs.
void refuse_to_overwrite_inputs(const UpdatePlan& plan);

// Opens the store that is to be changed. A store is replaced only together with its own filter, since another filter
// would lose its store. Throws UsageError, BloomgateError{bad_argument} if the filter has excluded senders and no list
// of them is given, and what opening the two throws.
std::unique_ptr<StoreFile> open_old_store(const UpdatePlan& plan);

// Checks the lines that were read of the additions, and how many lines of the removals were rejected. Throws
// BloomgateError{bad_input} if these are too many.
void require_lines(const UpdatePlan& plan, const LinesRead& added, std::uint64_t rejected_of_remove);

// Throws what LossLimits refuses, and warns `observer` of what the daemon refuses. `old` is the store; `counts` are the
// changes.
void require_entries_left(const UpdatePlan& plan, const StoreHeader& old, const UpdateCounts& counts,
                          JobObserver& observer);

// Updates the store and publishes the pair. Changes nothing if the output would overwrite an input (UsageError), if too
// many lines of a list were rejected or too many entries are gone (BloomgateError{bad_input, no_entries}), if `stop`
// turned true ({interrupted}), or if reading or writing fails. Throws what UpdatePlan throws.
UpdateResult update_store(UpdateRequest request, JobObserver& observer, const std::atomic<bool>& stop);

}  // namespace bloomgate
