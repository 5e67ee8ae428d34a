#include "filter/jobs/update_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/jobs/bits_of_filter.hpp"
#include "filter/jobs/kept_output.hpp"
#include "filter/layout/layout.hpp"
#include "filter/store/store_format.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {

UpdatePlan::UpdatePlan(UpdateRequest request) : UpdateRequest(std::move(request)) {
  add = list_files(add);
  remove = list_files(remove);
  strangers = list_files(strangers);
  options.store_path = store_path();
  options.seed = seed ? *seed : random_seed();
  options.scratch_folder = scratch_folder.value_or(folder_of(output));
}

// The shape that was asked for, and where none was, that of the old filter.
void UpdatePlan::choose_shape() {
  options.bits_per_entry = bits_per_entry.value_or(options.bits_per_entry);
  options.hashes = hashes.value_or(options.hashes);
  if (layout) {
    options.layout = *layout;
    options.block_bytes = block_bytes;
  }
  std::error_code error;
  if (std::filesystem::exists(output, error)) {
    const FilterHeader old = MappedFilter(output).header();
    if (!bits_per_entry) options.bits_per_entry = bits_per_entry_of(old);
    if (!layout) {
      options.layout = old.shape.layout;
      options.block_bytes = old.shape.block_bytes;
    }
    if (!hashes && options.layout == old.shape.layout) options.hashes = old.shape.hashes;
  }
  if (!hashes) options.hashes = std::min(options.hashes, layout_rules(options.layout).most_hashes());
}

std::string UpdatePlan::choose_sender_domains(const StoreFile& old) {
  const bool is_lacking = options.sender_domains && !old.header().knows_sender_domains();
  if (!is_lacking) return {};
  options.sender_domains = false;
  return "warning: " + store +
         " does not have the domains of its senders, so neither has the new pair, and strangers at any domain may be "
         "found; build the store from its lists again, or give " +
         names.no_sender_domains;
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const UpdatePlan& plan) {
  const JobNames& names = plan.names;
  const auto refuse_same = [](const std::string& a, const std::string& b, const std::string& advice = {}) {
    throw UsageError(a + " and " + b + " are the same file" + advice);
  };
  if (are_same_place(plan.output, plan.store)) refuse_same(names.store, names.output);
  if (!plan.is_in_place() && are_same_place(plan.new_store, plan.store)) {
    refuse_same(names.new_store, names.store, "; leave " + names.new_store + " out");
  }
  if (!plan.is_in_place() && are_same_place(plan.new_store, plan.output)) refuse_same(names.new_store, names.output);
  for (const std::vector<std::string>* lists : {&plan.add, &plan.remove, &plan.strangers}) {
    for (const std::string& list : *lists) {
      if (are_same_place(list, plan.output)) throw UsageError(names.output + " would overwrite the list " + list);
      if (are_same_place(list, plan.store_path())) throw UsageError("the store would overwrite the list " + list);
    }
  }
}

void require_outputs(const UpdatePlan& plan) {
  require_can_write(plan.output, 0);
  require_can_write(plan.store_path(), 0, kStoreMagic);
  if (plan.keep != 0) require_can_keep_pair(plan.output, plan.store_path());
  require_scratch(plan.options.scratch_folder);
}

std::unique_ptr<StoreFile> open_old_store(const UpdatePlan& plan) {
  if (!plan.is_in_place()) return std::make_unique<StoreFile>(plan.store);
  if (access(plan.output.c_str(), F_OK) != 0) {
    throw UsageError(plan.output + " is not there; name the filter of " + plan.store + " in " + plan.names.output +
                     ", or with " + plan.names.new_store + " where to put a new pair");
  }
  const FilterHeader old = MappedFilter(plan.output).header();
  if (old.strangers.known != 0 && plan.strangers.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         plan.output +
                             " keeps known strangers out, and has no list of them: with another seed they might pass. "
                             "Name their lists with " +
                             plan.names.strangers,
                         {.path = plan.output});
  }
  return open_store(plan.store, old.store_identity, plan.output);
}

// A sender who is to be removed by a line that cannot be read would stay listed.
void require_lines(const UpdatePlan& plan, const LinesRead& added, std::uint64_t rejected_of_remove) {
  if (rejected_of_remove != 0) {
    throw BloomgateError(ErrorCode::bad_input, format_count(rejected_of_remove) + " lines of " + plan.names.removals +
                                                   " were rejected, so that whom they name would stay "
                                                   "listed; correct them; nothing was changed");
  }
  if (plan.is_strict && added.rejected != 0) {
    throw BloomgateError(ErrorCode::bad_input, format_count(added.rejected) + " lines were rejected and " +
                                                   plan.names.strict + " was given; nothing was changed");
  }
  if (auto refusal = plan.limits.refusal_of(added)) throw BloomgateError(std::move(*refusal));
}

void require_entries_left(const UpdatePlan& plan, const StoreHeader& old, const UpdateCounts& counts) {
  const std::uint64_t entries = old.addresses + old.domains + counts.added - counts.removed;
  if (auto refusal = plan.limits.refusal_of(entries, plan.output)) throw BloomgateError(std::move(*refusal));
}

}  // namespace bloomgate
