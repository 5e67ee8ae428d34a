#include "filter/jobs/counting_job.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/ingest/rounds.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/generations.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

const LineFault kNotThere = {"not-there", "this entry is not in the filter, so it cannot be removed"};

std::uint64_t gather_block(const Block& block, const Format& format, const FilterView& view,
                           GatheredEntries::Lane& lane, RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  std::uint64_t not_there = 0;
  report.lines = look_up_entries(
      block, format, view,
      [&](const LookedUp& entry) {
        if (!entry.found) {
          ++not_there;
          report.rejected.push_back({entry.line, kNotThere, entry_text(entry.key)});
        } else if (goes_into_bits(entry.kind)) {
          lane.add_address(entry.key, sender_domain_of(entry.key));
        } else {
          lane.add_domain(entry.key);
        }
      },
      [&](const ListLine& line, std::uint64_t number, std::string_view text) {
        report.add_line_without_entry(line, number, text);
      });
  rejects.add(std::move(report));
  return not_there;
}

// Gathers the entries of the lists that the filter has, or seems to have, and reports every other line with its
// position. Returns how many entries are certainly not there.
std::uint64_t gather_entries_there(OpenLists& lists, const FilterView& view, GatheredEntries& entries, unsigned threads,
                                   RejectLog& rejects) {
  std::atomic<std::uint64_t> not_there{0};
  for_each_block_in_rounds(
      lists.blocks, *lists.format, threads, entries,
      [&](const Block& block, GatheredEntries::Lane& lane) {
        not_there += gather_block(block, *lists.format, view, lane, rejects);
      },
      [&] { entries.flush(); });
  return not_there;
}

// Returns how many of the entries that are to be removed are not there.
std::uint64_t read_changes(const CountingRequest& request, OpenLists& lists, const MappedFilter& old,
                           CountingUpdate& update, RejectLog& rejects, JobObserver& observer) {
  const unsigned threads = request.options.threads;
  if (request.change == CountingChange::remove) {
    return gather_entries_there(lists, old.view(), update.entries(), threads, rejects);
  }
  const BuildOptions reading = {.profile = old.header().shape.profile, .threads = threads};
  add_entries(lists.blocks, *lists.format, update.entries(), reading, {},
              usual_broad_domains(request.broad_files, observer.warns()), rejects);
  return 0;
}

// `read` has the lines that are not entries.
std::optional<BloomgateError> refusal_of_changes(const CountingRequest& request, const LinesRead& read) {
  if (request.change == CountingChange::add) return refusal_of_lines(request, read, "nothing was changed");
  if (read.rejected == 0) return std::nullopt;
  return refusal_of_removals(read.rejected, "");
}

std::optional<BloomgateError> refusal_of_absent(const CountingRequest& request, std::uint64_t entries) {
  if (entries == 0 || !request.is_strict) return std::nullopt;
  return BloomgateError(ErrorCode::bad_input, format_counted(entries, "entry is", "entries are") + " not there and " +
                                                  choice_names().strict + " was given; nothing was changed");
}

}  // namespace

CountingResult change_counting_filter(const CountingRequest& request, JobObserver& observer,
                                      const std::atomic<bool>& stop) {
  constexpr std::uint64_t kUsualMemory = std::uint64_t{256} << 20;
  const auto start = std::chrono::steady_clock::now();
  const std::string& file = request.output;
  const CountingUpdate::Options options = {.threads = request.options.threads,
                                           .memory_bytes = request.memory_bytes.value_or(kUsualMemory),
                                           .scratch_folder = request.scratch_folder.value_or(folder_of(file)),
                                           .kept_generations = request.keep};
  require_output(request, {.scratch_folder = folder_of(file)});

  const ChangeLock lock(file);
  const MappedFilter old(file);
  CountingUpdate update(old, request.change, options);
  // Damage must not spread into another file.
  old.verify_body(options.threads, [&](std::uint64_t) { check_stop(stop); });
  OpenLists lists(request.lists, request.format, stop);
  std::atomic<bool> is_writing{false};
  WriteProgress written;
  const ObservedWork work(observer, [&]() -> WorkState { return is_writing ? state_of(written) : lists.state(); });
  RejectLog rejects(request.reject_file, names_of(lists.blocks), observer.warns());
  // A refusal counts lines that the job did not apply: the operator finds them in the reject file.
  const auto keep_and_throw = [&](std::optional<BloomgateError> refusal) {
    if (!refusal) return;
    rejects.keep();
    throw BloomgateError(std::move(*refusal));
  };
  const std::uint64_t not_there = read_changes(request, lists, old, update, rejects, observer);
  LinesRead read = LinesRead::of(rejects, *lists.format);
  read.rejected -= not_there;
  rejects.show_kinds();
  keep_and_throw(refusal_of_changes(request, read));
  keep_and_throw(refusal_of_absent(request, not_there));
  is_writing = true;
  const FilterHeader header = update.write(file, stop, written, [&](const CountingCounts& counts) {
    if (request.change == CountingChange::add) return;
    keep_and_throw(refusal_of_absent(request, counts.addresses_not_there + counts.domains_not_there));
    request.limits.require(entries_of(old.header()) - counts.addresses - counts.domains, file);
  });
  rejects.keep();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {old.header(), header, update.counts(), not_there, read.rejected, update.spilled_bytes(), elapsed.count()};
}

FilterHeader export_counting_filter(const std::string& file, const FilterRequest& request, JobObserver& observer,
                                    const std::atomic<bool>& stop) {
  const BuildOptions& options = request.options;
  require_output(request, {.scratch_folder = folder_of(request.output)});
  const MappedFilter counting(file);
  request.limits.require(entries_of(counting.header()), request.output, observer.warns());
  WriteProgress written;
  const ObservedWork work(observer, [&] { return state_of(written); });
  // Damage must not spread into another file.
  counting.verify_body(options.threads, [&](std::uint64_t) { check_stop(stop); });
  const unsigned kept = generations_to_keep(request, options, observer.warns());
  const std::string lone_store = warning_of_lone_store(request.output);
  const FilterHeader header =
      export_filter(counting, request.output, options.threads, kept, stop, written, options.sign_key.get());
  if (!lone_store.empty()) observer.warn(lone_store);
  return header;
}

}  // namespace bloomgate
