#include "filter/jobs/update_job.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "filter/engine/store_update.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/jobs/kept_output.hpp"

namespace bloomgate {
namespace {

// Lists of changes on their way into an update.
struct Changes {
  Changes(std::vector<std::string> files, const std::string& format, const StoreFile& old,
          const std::atomic<bool>& stop)
      : stores(files), lists(files, format, stop) {
    if (!stores.empty()) require_one_shape(old, *stores.stores().front());
  }

  WorkState state() const { return state_of(lists, stores); }

  void read_into(GatheredEntries& entries, const BuildOptions& options, const BroadDomains& broad_domains,
                 RejectLog& rejects, const std::atomic<bool>& stop) {
    stores.add_to(entries, options.threads, {}, stop);
    add_entries(lists.blocks, *lists.format, entries, options, {}, broad_domains, rejects);
  }

  StoreInputs stores;
  OpenLists lists;
};

}  // namespace

UpdateJob::UpdateJob(UpdateRequest request, JobObserver& observer, const std::atomic<bool>& stop)
    : observer_(observer), stop_(stop), plan_(std::move(request)) {
  refuse_to_overwrite_inputs(plan_);
  plan_.choose_shape();
}

UpdateResult UpdateJob::run() {
  const auto start = std::chrono::steady_clock::now();
  require_outputs(plan_);
  const ChangeLock lock(plan_.store);
  const std::unique_ptr<StoreFile> old = open_old_store(plan_);
  const std::string lack = plan_.choose_sender_domains(*old);
  Changes add(plan_.add, plan_.format, *old, stop_);
  Changes remove(plan_.remove, plan_.format, *old, stop_);
  BuildOptions options = StoreUpdate::options_for(*old, plan_.options);
  std::atomic<const Changes*> read_now{&add};  // null: writing
  WriteProgress written;
  const ObservedWork work(observer_, [&]() -> WorkState {
    const Changes* const changes = read_now;
    return changes == nullptr ? state_of(written) : changes->state();
  });
  const auto show = observer_.warns();
  if (!lack.empty()) show(lack);
  RejectLog rejected_of_add("", names_of(add.lists.blocks), show);
  RejectLog rejected_of_remove("", names_of(remove.lists.blocks), show);
  options.kept_generations = generations_to_keep(plan_.output, plan_.store_path(), plan_.keep, options.threads, show);
  StrangerCheck strangers(plan_.strangers, options, plan_.is_strict, plan_.names, show, stop_);
  StoreUpdate update(*old, options);
  strangers.attach_to(update);
  add.read_into(update.added(), options, usual_broad_domains(plan_.broad_files, show), rejected_of_add, stop_);
  read_now = &remove;
  remove.read_into(update.removed(), options, {}, rejected_of_remove, stop_);
  rejected_of_add.show_kinds();
  rejected_of_remove.show_kinds();
  require_lines(plan_, LinesRead::of(rejected_of_add, *add.lists.format), rejected_of_remove.count());
  read_now = nullptr;
  const UpdateCounts counts = update.count(stop_);
  require_entries_left(plan_, old->header(), counts);
  const FilterHeader header = update.write(plan_.output, stop_, written);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {.output = plan_.output,
          .store_path = plan_.store_path(),
          .header = header,
          .counts = counts,
          .rejected = rejected_of_add.count(),
          .strangers = strangers.review(),
          .spilled_bytes = update.spilled_bytes(),
          .seconds = elapsed.count(),
          .is_over_expected = plan_.options.expected_entries && header.addresses > header.expected_entries};
}

}  // namespace bloomgate
