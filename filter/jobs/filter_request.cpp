#include "filter/jobs/filter_request.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/kept_pairs.hpp"
#include "filter/store/store_file.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {

void FilterRequest::complete(std::vector<std::string> lists, const std::vector<std::string>& more) {
  strangers = list_files(strangers);
  lists.insert(lists.end(), more.begin(), more.end());
  lists.insert(lists.end(), strangers.begin(), strangers.end());
  lists.insert(lists.end(), {broad_files.free_mail_domains, broad_files.shared_signers});
  require_separate_streams(lists);
  options.scratch_folder = scratch_folder.value_or(folder_of(output));
}

ManifestWriter manifest_writer(const FilterRequest& request, const std::function<void(std::string_view)>& show) {
  return {request.output, request.options.sign_key, request.manifest, show};
}

void require_output(const FilterRequest& request, const BuildOptions& options, std::uint64_t bytes) {
  const std::string& store = options.store_path;
  require_can_write(request.output, bytes);
  if (!store.empty()) require_can_write(store, 0, kStoreMagic);
  if (request.keep != 0) require_can_keep(resolve_link(request.output), request.keep, kFilterMagic);
  // Without a further number, too, a store stays if a kept filter needs it.
  if (const unsigned kept = store.empty() ? 0 : std::max(request.keep, stores_to_keep(store, request.output));
      kept != 0)
    require_can_keep(resolve_link(store), kept, kStoreMagic);
  require_scratch(options.scratch_folder);
}

unsigned generations_to_keep(const FilterRequest& request, const BuildOptions& options,
                             const std::function<void(std::string_view)>& show) {
  const std::string& store = options.store_path;
  if (request.keep == 0 || access(request.output.c_str(), F_OK) != 0) return request.keep;
  try {
    const MappedFilter filter(request.output);
    filter.verify_body(options.threads);
    if (!store.empty() && access(store.c_str(), F_OK) == 0 && filter.header().store_identity != 0) {
      open_store(store, filter.header().store_identity, request.output)->verify(options.threads);
    }
    return request.keep;
  } catch (const BloomgateError& error) {
    show(std::string("warning: the old filter is not kept: ") + error.what());
    return 0;
  }
}

std::string warning_of_lone_store(const std::string& output) {
  if (access(output.c_str(), F_OK) != 0) return {};
  try {
    if (MappedFilter(output).header().store_identity == 0) return {};
  } catch (const BloomgateError&) {
    return {};  // no store can be found by it
  }
  return "warning: " + printable(output) +
         " had a store, and has none now; remove the old store, and take it out of 'confirm' in bloomgate-milter.conf";
}

std::optional<BloomgateError> refusal_of_lines(const FilterRequest& request, const LinesRead& read,
                                               const std::string& outcome) {
  if (!request.is_strict || read.rejected == 0) return request.limits.refusal_of(read);
  return BloomgateError(ErrorCode::bad_input, format_counted(read.rejected, "line was", "lines were") +
                                                  " rejected and " + choice_names().strict + " was given; " + outcome);
}

void require_strangers(const FilterRequest& request, const StrangerReview& review) {
  if (request.is_strict) return;  // StrangerCheck refuses any such line
  const LinesRead read = {.lines = review.lines,
                          .rejected = review.rejected,
                          .advice = "each line must be an entry, as in a list of the format text",
                          .lists = " of " + choice_names().strangers};
  if (auto refusal = request.limits.refusal_of(read)) throw BloomgateError(std::move(*refusal));
}

BloomgateError refusal_of_removals(std::uint64_t rejected, const std::string& removals) {
  return {ErrorCode::bad_input,
          format_counted(rejected, "line", "lines") + removals +
              std::string(word_for(rejected, " was rejected, so its sender", " were rejected, so their senders")) +
              " would stay listed; correct the list; nothing was changed"};
}

FilterResult result_of(const FilterRequest& request, const FilterHeader& header, std::uint64_t rejected,
                       const StrangerReview& strangers, std::uint64_t spilled_bytes,
                       std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {.output = request.output,
          .header = header,
          .rejected = rejected,
          .strangers = strangers,
          .spilled_bytes = spilled_bytes,
          .seconds = elapsed.count(),
          .store_path = request.options.store_path,
          .is_over_expected = request.options.expected_entries && header.addresses > header.expected_entries};
}

}  // namespace bloomgate
