#include "filter/jobs/counting_job.hpp"

#include <chrono>

#include "filter/base/stop_check.hpp"
#include "filter/file/output_check.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/entries_there.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/keep/generations.hpp"

namespace bloomgate {

// Gives the number of entries that are not there, of those that are to be removed.
std::uint64_t CountingJob::read_changes(OpenLists& lists, const MappedFilter& old, CountingUpdate& update,
                                        RejectLog& rejects) {
  const unsigned threads = request_.options.threads;
  if (request_.change == CountingChange::remove) {
    return gather_entries_there(lists, old.view(), update.entries(), threads, rejects);
  }
  const BuildOptions reading = {.profile = old.header().shape.profile, .threads = threads};
  add_entries(lists.blocks, *lists.format, update.entries(), reading, {},
              usual_broad_domains(request_.broad_files, observer_.warns()), rejects);
  return 0;
}

CountingResult CountingJob::run() {
  const auto start = std::chrono::steady_clock::now();
  const std::string& file = request_.file;
  require_can_write(file, 0);
  if (request_.options.kept_generations != 0) require_can_keep(resolve_link(file));

  const ChangeLock lock(file);
  const MappedFilter old(file);
  CountingUpdate update(old, request_.change, request_.options);
  // Damage must not spread into another file.
  old.verify_body(request_.options.threads, [this](std::uint64_t) { check_stop(stop_); });
  OpenLists lists(request_.lists, request_.format, stop_);
  std::atomic<bool> is_writing{false};
  WriteProgress written;
  const ObservedWork work(observer_, [&]() -> WorkState { return is_writing ? state_of(written) : lists.state(); });
  RejectLog rejects(request_.reject_file, names_of(lists.blocks), observer_.warns());
  // A refusal counts lines that the job did not apply: the operator finds them in the reject file.
  const auto kept_if_refused = [&](const auto& review, std::uint64_t lines, const auto&... more) {
    if (lines == 0) return;
    try {
      review(lines, more...);
    } catch (...) {
      rejects.keep();
      throw;
    }
  };
  const std::uint64_t not_there = read_changes(lists, old, update, rejects);
  const std::uint64_t rejected = rejects.count() - not_there;
  rejects.show_kinds();
  kept_if_refused(review_.rejected, rejected, rejects, *lists.format);
  kept_if_refused(review_.not_there, not_there);
  is_writing = true;
  const FilterHeader header = update.write(file, stop_, written, [&](const CountingCounts& counts) {
    kept_if_refused(review_.not_there, counts.addresses_not_there + counts.domains_not_there);
    if (request_.change == CountingChange::add) return;
    review_.left(entries_of(old.header()) - counts.addresses - counts.domains);
  });
  rejects.keep();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {old.header(), header, update.counts(), not_there, rejected, update.spilled_bytes(), elapsed.count()};
}

}  // namespace bloomgate
