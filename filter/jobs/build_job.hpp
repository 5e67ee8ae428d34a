// What a build is asked for, and what that comes to once its inputs are found. build_from_lists() carries it out, as
// the ranks of an MPI job do.
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
  std::vector<std::string> exceptions = {};  // lists of what is left out
  std::string reject_file = {};              // empty: none
  std::string replaces = {};  // the filter that the new one is to take the place of; empty: that at `output`
  // Nothing, as for `seed`: by the stores among the inputs, or as usual.
  std::optional<std::string> seed_from = {};  // the filter whose seed is taken
  std::optional<std::uint64_t> store_seed = {};
  std::optional<HashFamily> hash_family = {};
  std::optional<TagSeparators> tag_separators = {};
};

// The files of all folders are named, the stores among the inputs are open, and `options` are complete.
struct BuildPlan : BuildRequest {
  // `show` gets warnings. Throws UsageError where a store among the inputs is not as asked for, and what the files
  // throw that are read.
  BuildPlan(BuildRequest request, const std::function<void(std::string_view)>& show);

  const std::string& replaced() const noexcept { return replaces.empty() ? output : replaces; }

  std::unique_ptr<StoreInputs> stores;  // never null; taken out of the inputs
  bool lacks_sender_domains = false;    // wanted, and not to be had from the stores
};

struct BuildResult : FilterResult {
  std::uint64_t excepted = 0;
  BroadCounts broad = {};
};

// Before the lists are read, as they may be large. Throws UsageError where the output would overwrite one of them.
void refuse_to_overwrite_inputs(const BuildPlan& plan);

// The bytes of bits that a filter with `options` has. 0: that is not known before the lists are read.
std::uint64_t expected_bytes(const BuildOptions& options);

// How many addresses the inputs hold, if that is known before they are read.
std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile);

// Whether a filter that was sized for the estimate would be another than was asked for.
bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses);

// What the domains of all addresses may take, said before the work where it is much. Empty where it is not, or where
// nothing says how many addresses there are. `options` are those with which the filter is built.
std::string cost_of_sender_domains(const BuildOptions& options);

// Why no filter is made of what was read. Nothing: one is made.
std::optional<BloomgateError> refusal_of_lists(const BuildPlan& plan, const LinesRead& read, std::uint64_t entries);

// Puts the files in place, or changes nothing: where the output would overwrite an input (UsageError), where too much
// of the lists was rejected or is gone (BloomgateError{bad_input, no_entries}), where `stop` turned true
// ({interrupted}), and where reading or writing fails. Throws what BuildPlan throws.
BuildResult build_from_lists(BuildRequest request, JobObserver& observer, const std::atomic<bool>& stop);

}  // namespace bloomgate
