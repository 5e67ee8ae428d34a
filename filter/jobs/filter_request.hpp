// What a build and an update are asked for alike, and the steps that both have, also as the jobs of several ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/file/file_format.hpp"
#include "filter/ingest/broad_domains.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/loss_limits.hpp"
#include "filter/keep/publish_manifest.hpp"

namespace bloomgate {

struct FilterRequest {
  std::string output;
  std::string format = "text";              // of the lists, as make_format() takes it
  std::vector<std::string> strangers = {};  // lists of addresses that must not be taken for listed
  BroadFiles broad_files = {};
  unsigned keep = 0;
  bool is_strict = false;
  LossLimits limits = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::string> scratch_folder = {};
  ManifestRequest manifest = {};  // of the output, if it is signed
  // The rest. What stands above comes into it with the plan; `sender_domains` says whether they are wanted.
  BuildOptions options = {};

  // Names the files of the lists of strangers, and the folder for what does not fit into memory. Throws what
  // list_files() throws.
  void complete();
};

struct FilterResult {
  std::string output;
  FilterHeader header;
  std::uint64_t rejected = 0;  // lines; of an update, those of what is added
  StrangerReview strangers = {};
  std::uint64_t spilled_bytes = 0;
  double seconds = 0;
  std::string store_path = {};                   // empty: there is none
  bool is_over_expected = false;                 // more addresses than it was asked to be sized for
  std::optional<WrittenManifest> manifest = {};  // nothing: none was written
};

// For the manifest of the output, to be made before the work. Throws as its constructor.
ManifestWriter manifest_writer(const FilterRequest& request, const std::function<void(std::string_view)>& show);

// Throws what require_can_write() and its like throw where the output cannot be put: a filter of `bytes`, and the store
// of `options`.
void require_output(const FilterRequest& request, const BuildOptions& options, std::uint64_t bytes = 0);

// How many generations to keep: as asked for, or 0 where the old filter, or its store, is damaged, since a damaged one
// would push out a good one. Says so with `show`. Reads all of both.
unsigned generations_to_keep(const FilterRequest& request, const BuildOptions& options,
                             const std::function<void(std::string_view)>& show);

// Why nothing is made of the lines that were read: too many were rejected, or any with `is_strict`. `outcome` ends the
// sentence then. Nothing: it may be.
std::optional<BloomgateError> refusal_of_lines(const FilterRequest& request, const LinesRead& read,
                                               const std::string& outcome);

// Why nothing is removed: `rejected` of the removals ("lines of --remove") are no entries, and the senders in them
// would stay listed.
BloomgateError refusal_of_removals(std::uint64_t rejected, const std::string& removals);

// `request` has the options as they were asked for.
FilterResult result_of(const FilterRequest& request, const FilterHeader& header, std::uint64_t rejected,
                       const StrangerReview& strangers, std::uint64_t spilled_bytes,
                       std::chrono::steady_clock::time_point start);

}  // namespace bloomgate
