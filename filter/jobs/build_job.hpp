// The request of a build, and the plan that follows from it once its inputs are found. build_from_lists() carries it
// out, and so do the ranks of an MPI job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/inputs/open_lists.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/jobs/filter_request.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

struct BuildRequest : FilterRequest {
  std::vector<std::string> inputs;  // lists, folders of lists, stores
  std::optional<std::chrono::days> newest = {};
  std::vector<std::string> exceptions = {};  // lists of the entries to leave out
  std::string reject_file = {};              // empty: none
  std::string replaces = {};                 // the filter that the new one will replace; empty: that at `output`
  // If these, or `seed`, are empty, the stores among the inputs decide, or else the default.
  std::optional<std::string> seed_from = {};  // the filter whose seed is used
  std::optional<std::uint64_t> store_seed = {};
  std::optional<HashFamily> hash_family = {};
  std::optional<TagSeparators> tag_separators = {};
};

// The request, with all folders replaced by their files, with the stores among the inputs open, and with complete
// `options`.
struct BuildPlan : BuildRequest {
  // `show` gets warnings. Throws UsageError if a store among the inputs does not fit the request, and what reading the
  // files throws, also if `replaces` is no filter. If `replaces` is absent, `output` takes its place.
  BuildPlan(BuildRequest request, const std::function<void(std::string_view)>& show);

  const std::string& replaced() const noexcept { return replaces.empty() ? output : replaces; }

  std::unique_ptr<StoreInputs> stores;  // never null; removed from the inputs
  bool lacks_sender_domains = false;    // requested, but the stores do not have them
};

struct BuildResult : FilterResult {
  std::uint64_t excepted = 0;
  BroadCounts broad = {};
};

// Call it before the lists are read, as they may be large. Throws UsageError if the output would overwrite one of them.
void refuse_to_overwrite_inputs(const BuildPlan& plan);

// The size of the bit array of a filter with `options`. 0: it is not known before the lists are read.
std::uint64_t expected_bytes(const BuildOptions& options);

// The number of addresses in the inputs, if that is known before they are read.
std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile);

// Whether a filter that was sized for the estimate would differ from the requested one.
bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses);

// A message about the memory and time that the domains of all addresses may take, to be shown before the work. Empty if
// that is little, or if the number of addresses is not known. `options` are those with which the filter is built.
std::string cost_of_sender_domains(const BuildOptions& options);

// Why no filter is made from what was read; nothing if one is made.
std::optional<BloomgateError> refusal_of_lists(const BuildPlan& plan, const LinesRead& read, std::uint64_t entries);

// Builds the filter and publishes its files. Changes nothing if the output would overwrite an input (UsageError), if
// too much of the lists was rejected or is gone (BloomgateError{bad_input, no_entries}), if `stop` turned true
// ({interrupted}), or if reading or writing fails. Throws what BuildPlan throws.
BuildResult build_from_lists(BuildRequest request, JobObserver& observer, const std::atomic<bool>& stop);

}  // namespace bloomgate
