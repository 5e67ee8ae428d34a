// What a build is asked for, and what that comes to once its inputs are found. BuildJob carries it out, as the ranks of
// an MPI job do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/file/file_format.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/inputs/job_names.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/inputs/stranger_lists.hpp"
#include "filter/jobs/loss_limits.hpp"

namespace bloomgate {

struct BuildRequest {
  std::string output;
  std::vector<std::string> inputs;  // lists, folders of lists, stores
  std::string format = "text";      // of the lists, as make_format() takes it
  std::optional<std::chrono::days> newest = {};
  std::vector<std::string> exceptions = {};  // lists of what is left out
  std::vector<std::string> strangers = {};   // lists of addresses that must not be taken for listed
  BroadFiles broad_files = {};
  std::string reject_file = {};  // empty: none
  std::string replaces = {};     // the filter that the new one is to take the place of; empty: that at `output`
  unsigned keep = 0;
  bool is_strict = false;
  LossLimits limits = {};
  // Nothing: by the stores among the inputs, or as usual.
  std::optional<std::uint64_t> seed = {};
  std::optional<std::string> seed_from = {};  // the filter whose seed is taken
  std::optional<std::uint64_t> store_seed = {};
  std::optional<HashFamily> hash_family = {};
  std::optional<TagSeparators> tag_separators = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::string> scratch_folder = {};
  // The rest. What stands above comes into it with the plan; `sender_domains` says whether they are wanted.
  BuildOptions options = {};
  JobNames names = {};
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

struct BuildResult {
  std::string output;
  FilterHeader header;
  std::uint64_t rejected = 0;
  std::uint64_t excepted = 0;
  BroadCounts broad = {};
  StrangerReview strangers = {};
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
  std::string store_path = {};    // empty: there is none
  bool is_over_expected = false;  // more addresses than it was asked to be sized for
};

// Before the lists are read, as they may be large. Throws UsageError where the output would overwrite one of them.
void refuse_to_overwrite_inputs(const BuildPlan& plan);

// Throws what require_can_write() and its like throw where the output, with `options`, cannot be put.
void require_output(const BuildPlan& plan, const BuildOptions& options);

// How many addresses the inputs hold, if that is known before they are read.
std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile);

// Whether a filter that was sized for the estimate would be another than was asked for.
bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses);

// What the domains of all addresses may take, said before the work where it is much. Empty where it is not, or where
// nothing says how many addresses there are. `options` are those with which the filter is built.
std::string cost_of_sender_domains(const BuildPlan& plan, const BuildOptions& options);

// Why no filter is made of what was read. Nothing: one is made.
std::optional<BloomgateError> refusal_of_lists(const BuildPlan& plan, const LinesRead& read, std::uint64_t entries);

}  // namespace bloomgate
