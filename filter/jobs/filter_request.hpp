// The common part of the requests for a build and an update, and their common steps, also for jobs of several ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/broad/broad_domains.hpp"
#include "filter/engine/builder.hpp"
#include "filter/file/file_format.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/loss_limits.hpp"
#include "filter/keep/publish_manifest.hpp"

namespace bloomgate {

struct FilterRequest {
  std::string output;
  std::string format = "text";              // of the lists, for make_format()
  std::vector<std::string> strangers = {};  // lists of addresses that the filter must not list
  BroadFiles broad_files = {};
  unsigned keep = 0;
  bool is_strict = false;
  LossLimits limits = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::string> scratch_folder = {};
  ManifestRequest manifest = {};  // of the output, if it is signed
  // The other options. The plan copies the members above into them; `sender_domains` says whether they are requested.
  BuildOptions options = {};

  // Replaces folders of excluded senders by their files, and chooses the folder for what does not fit into memory.
  // `lists` and `more` are the inputs of the other options. Throws what list_files() throws.
  void complete(std::vector<std::string> lists, const std::vector<std::string>& more);
};

struct FilterResult {
  std::string output;
  FilterHeader header;
  std::uint64_t rejected = 0;  // lines; for an update, those of the added lists
  StrangerReview strangers = {};
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
  std::string store_path = {};                   // empty: there is no store
  bool is_over_expected = false;                 // more addresses than the requested size was for
  std::optional<WrittenManifest> manifest = {};  // nothing: none was written
};

// The writer of the output's manifest; make it before the work. Throws as its constructor.
ManifestWriter manifest_writer(const FilterRequest& request, const std::function<void(std::string_view)>& show);

// Throws what require_can_write() and similar functions throw if the output cannot be written: a filter of `bytes`, and
// the store of `options`.
void require_output(const FilterRequest& request, const BuildOptions& options, std::uint64_t bytes = 0);

// How many generations to keep: as requested, or 0 if the old filter, or its store, is damaged, since a damaged file
// would displace a good one. In that case shows a message with `show`. Reads all of both files.
unsigned generations_to_keep(const FilterRequest& request, const BuildOptions& options,
                             const std::function<void(std::string_view)>& show);

// A warning if the filter at `output` has a store, and one without a store replaces it; otherwise empty. Ask before the
// change, and show it after that.
std::string warning_of_lone_store(const std::string& output);

// Why no filter is made from the lines that were read: too many were rejected, or any with `is_strict`. `outcome` ends
// the sentence then. Nothing if one is made.
std::optional<BloomgateError> refusal_of_lines(const FilterRequest& request, const LinesRead& read,
                                               const std::string& outcome);

// Throws BloomgateError{bad_input} if too many lines of the lists of excluded senders are not entries: these senders
// would not be excluded.
void require_strangers(const FilterRequest& request, const StrangerReview& review);

// The error if nothing is removed: `rejected` of the removals ("lines of --remove") are not entries, and the senders in
// them would stay listed.
BloomgateError refusal_of_removals(std::uint64_t rejected, const std::string& removals);

// `request` has the options as they were requested.
FilterResult result_of(const FilterRequest& request, const FilterHeader& header, std::uint64_t rejected,
                       const StrangerReview& strangers, std::uint64_t spilled_bytes,
                       std::chrono::steady_clock::time_point start);

}  // namespace bloomgate
