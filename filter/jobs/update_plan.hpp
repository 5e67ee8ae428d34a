// What an update of a store is asked for, and what that comes to. UpdateJob carries it out, as the ranks of an MPI job
// do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/engine/store_merge.hpp"
#include "filter/file/file_format.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/inputs/job_names.hpp"
#include "filter/inputs/stranger_lists.hpp"
#include "filter/jobs/loss_limits.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

struct UpdateRequest {
  std::string output;
  std::string store;
  std::string new_store = {};  // empty: in the place of the old one
  std::vector<std::string> add = {};
  std::vector<std::string> remove = {};
  std::vector<std::string> strangers = {};  // lists of addresses that must not be taken for listed
  std::string format = "text";              // of the lists, as make_format() takes it
  BroadFiles broad_files = {};
  unsigned keep = 0;
  bool is_strict = false;
  LossLimits limits = {};
  std::optional<std::uint64_t> seed = {};  // nothing: a random one
  std::optional<std::string> scratch_folder = {};
  // Nothing: as the old filter has it. With a layout that is asked for goes its size of a block.
  std::optional<Layout> layout = {};
  std::optional<std::uint32_t> block_bytes = {};
  std::optional<double> bits_per_entry = {};
  std::optional<std::uint32_t> hashes = {};
  // The rest. What stands above comes into it with the plan; `sender_domains` says whether they are wanted.
  BuildOptions options = {};
  JobNames names = {};

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

struct UpdateResult {
  std::string output;
  std::string store_path;
  FilterHeader header;
  UpdateCounts counts = {};
  std::uint64_t rejected = 0;  // of what is added
  StrangerReview strangers = {};
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
  bool is_over_expected = false;  // more addresses than it was asked to be sized for
};

// Before anything is read. Throws UsageError where the output would overwrite one of the inputs.
void refuse_to_overwrite_inputs(const UpdatePlan& plan);

// Throws what require_can_write() and its like throw where the pair cannot be put.
void require_outputs(const UpdatePlan& plan);

// The store that is to be changed. In its place that is only done together with its filter: another filter would lose
// its store. Throws UsageError, BloomgateError{bad_argument} where the filter has known strangers and no list of them
// is given, and what opening the two throws.
std::unique_ptr<StoreFile> open_old_store(const UpdatePlan& plan);

// What was read of the additions, and how many lines of the removals were rejected. Throws BloomgateError{bad_input}
// where that must not be.
void require_lines(const UpdatePlan& plan, const LinesRead& added, std::uint64_t rejected_of_remove);

// Throws what LossLimits refuses: `old` is the store, `counts` what is to change.
void require_entries_left(const UpdatePlan& plan, const StoreHeader& old, const UpdateCounts& counts);

}  // namespace bloomgate
